/** The field that holds the version of an application beside its image, such as `spec.version` of Prometheus. */
import { parse } from 'semver';
import type { Candidate } from '../model/image-reference.ts';
import { stages } from '../select/tag-track.ts';

/** Whether the value of a field is a version, which then changes with the image. */
export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && parse(value) !== null;
}

/** The version in a tag, in the form of the field (`v3.5.0` or `3.5.0`). Undefined if the field holds none or the tag is none; the field then stays as it is. */
export function newVersion(value: unknown, { tag }: Candidate): string | undefined {
  const version = parse(tag);
  if (version === null || !isVersion(value)) return undefined;
  const { major, minor, patch, prerelease } = version;
  // The suffix of 1.2.3-alpine names the variant of the image, and is not part of the version.
  const stage = stages.test(String(prerelease[0] ?? '')) ? `-${prerelease.join('.')}` : '';
  return `${value.startsWith('v') ? 'v' : ''}${major}.${minor}.${patch}${stage}`;
}
