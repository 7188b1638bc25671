/** Parses manifests, indexes and image configurations. Only the needed fields are read, and fields of another shape are left out. */
import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { isDigest } from '../../core/model/image-reference.ts';
import { isCredibleTime } from '../../core/select/strategies/newest.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** A descriptor in a manifest. */
export type Descriptor = z.output<typeof descriptor>;

/** A manifest (`config`) or an index (`manifests`). */
export type ManifestDocument = z.output<typeof manifest>;

/** The limit for the layers of a manifest. Artifacts may have more layers than images, as may the signatures of cosign 2. */
const maxLayers = 1_024;
/** The limit for the entries of an index, or of a page of referrers. */
const maxEntries = 2_048;

const text = z.string().max(4_096);
/** The limit for the annotations of an image, or of one of its entries. Records with more are left out, because each takes microseconds. */
const maxAnnotations = 4_096;
// The count is checked without a schema, because a schema of a record takes still longer.
const annotations = z
  .custom<object>((record) => isObject(record) && Object.keys(record).length <= maxAnnotations)
  .transform((record) => {
    const texts = Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(texts);
  });
/** A text of a platform. It is short, since the platforms of thousands of images are cached. */
const platformText = z.string().max(64);
const platform = z.object({ os: platformText, architecture: platformText, variant: platformText.optional().catch(undefined) });
const descriptor = z.object({
  mediaType: text.optional().catch(undefined),
  artifactType: text.optional().catch(undefined),
  digest: z.string().refine(isDigest),
  size: z.int().min(0).optional().catch(undefined),
  platform: platform.optional().catch(undefined),
  annotations: annotations.optional().catch(undefined),
});
const descriptors = (max: number) =>
  z
    .array(z.unknown())
    .max(max)
    .transform((entries) => entries.flatMap((entry) => descriptor.safeParse(entry).data ?? []));
const manifest = z
  .object({
    schemaVersion: z.literal(2).optional(),
    mediaType: text.optional().catch(undefined),
    artifactType: text.min(1).optional().catch(undefined),
    subject: descriptor.optional().catch(undefined),
    layers: descriptors(maxLayers).optional().catch(undefined),
    config: descriptor.optional().catch(undefined),
    manifests: descriptors(maxEntries).optional().catch(undefined),
    annotations: annotations.optional().catch(undefined),
  })
  // `schemaVersion` is optional for an index, because some registries omit it in their indexes of referrers.
  .refine(({ schemaVersion, manifests }) => schemaVersion !== undefined || manifests !== undefined);
/** The settings of containers. Fields other than the labels are kept as they are. */
const labelled = z.looseObject({ Labels: annotations.optional().catch(undefined) }).optional();
/** The layers in a configuration. No builder makes images of more than these, because overlay file systems mount at most 128. */
const rootfs = z.object({ diff_ids: z.array(z.string().refine(isDigest)).max(512) }).optional();
const imageConfig = platform
  .partial()
  .extend({ created: text.optional(), config: labelled.catch(undefined), rootfs: rootfs.catch(undefined) })
  .catch({});

/** Parses a manifest or an index; undefined for anything else. */
export function parseManifest(bytes: Buffer): ManifestDocument | undefined {
  return manifest.safeParse(parseJson(bytes)).data;
}

/** Parses the platform, creation time, labels and layers of an image configuration, as far as they can be read. */
export function parseImageConfig(bytes: Buffer): z.output<typeof imageConfig> {
  return imageConfig.parse(parseJson(bytes));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return parseBoundedJson(bytes);
  } catch {
    return undefined;
  }
}

/** Annotations of a manifest, or labels of a configuration. */
type Labels = Readonly<Record<string, string>> | undefined;

/** Keys of the creation time: OCI's, and label-schema.org's, more often inherited. https://github.com/opencontainers/image-spec/blob/main/annotations.md */
const names = ['org.opencontainers.image.created', 'org.label-schema.build-date'];

/** The creation time in annotations or labels. */
export function annotatedTime(annotations: Labels): Date | undefined {
  return mostCredible(names.map((name) => parseTime(annotations?.[name])));
}

/**
 * The creation time of an image: the one in its manifest's annotations, otherwise the later one of its labels and its configuration. A label may be inherited
 * from the base image, and the time of a configuration may be that of cached layers; both are earlier. A reproducible build may have a label only.
 */
export function creationTime(
  annotated: Date | undefined,
  { labels, built }: { labels: Labels; built: string | undefined },
): Date | undefined {
  return mostCredible([annotated, latestTime([annotatedTime(labels), parseTime(built)])]);
}

/** The latest of the known times. */
export function latestTime(times: readonly (Date | undefined)[]): Date | undefined {
  return times.reduce((latest, time) => (latest === undefined || (time !== undefined && time > latest) ? time : latest), undefined);
}

/** The first credible time, or the first time if none is credible. */
function mostCredible(times: readonly (Date | undefined)[]): Date | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.find(isCredibleTime) ?? known[0];
}

/** Parses a time. Go's zero time counts as unknown, because builders write it if they do not know the time. */
function parseTime(text: string | undefined): Date | undefined {
  const at = new Date(text ?? Number.NaN);
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() <= 1 ? undefined : at;
}
