/** When an image was created, by its own word: https://github.com/opencontainers/image-spec/blob/main/annotations.md */
import { isCredibleTime } from '../select/strategies/newest.ts';

/** Annotations of a manifest, or labels of a configuration. */
type Notes = Readonly<Record<string, string>> | undefined;

/** The OCI's name, then the former one of label-schema.org, which an image more often has from what it was built from. */
const names = ['org.opencontainers.image.created', 'org.label-schema.build-date'];

/** What annotations or labels say of it. */
export function notedTime(notes: Notes): Date | undefined {
  return mostCredible(names.map((name) => parseTime(notes?.[name])));
}

/**
 * What an image says: what its manifest notes, else the later one of its label and its configuration. A label may be that of the image that it was built from, and the
 * time of a configuration that of layers from a cache; both are earlier. A reproducible build may have a label alone.
 */
export function creationTime(noted: Date | undefined, { labels, built }: { labels: Notes; built: string | undefined }): Date | undefined {
  return mostCredible([noted, latestTime([notedTime(labels), parseTime(built)])]);
}

/** The latest of those that are known. */
export function latestTime(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce((latest, time) => (latest === undefined || (time !== undefined && time > latest) ? time : latest), undefined);
}

/** The first that can be true; where none can, the first that was said. */
function mostCredible(times: readonly (Date | undefined)[]): Date | undefined {
  const said = times.filter((time) => time !== undefined);
  return said.find(isCredibleTime) ?? said[0];
}

/** Go's zero time is how builders say that they do not know. */
function parseTime(text: string | undefined): Date | undefined {
  const at = new Date(text ?? Number.NaN);
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() <= 1 ? undefined : at;
}
