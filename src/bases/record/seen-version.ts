/** A version of a base that a BaseImagePolicy has seen, as it is stored in BaseImageRecords. */
import { z } from 'zod';
import { fieldsOf } from '../../core/model/untyped.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import type { Immutable } from '../../core/model/immutable.ts';
import { maxPlatforms, platformPattern, sourcePattern } from '../recognize/facts.ts';

/** The maximum number of tags that are kept of an image, and of versions in one record. */
export const maxTags = 64;
export const maxInRecord = 500;

const digest = (description: string) => z.string().max(136).refine(isDigest).describe(description);

const layers = z
  .object({
    count: z.int().min(1).max(512).describe('How many layers the image has.'),
    chain: digest('One digest for all layers: the ChainID of the OCI image specification.'),
    first: digest('The diff id of the lowest layer that has files.'),
    last: digest('The diff id of the top layer.'),
  })
  .describe('The layers of the image. Absent if they are not known, or contain no file.');

const platform = z
  .object({
    platform: z.string().max(200).regex(platformPattern).describe('The platform: linux/arm64/v8; empty if the image names none.'),
    digest: digest('The digest of the manifest.'),
    layers: layers.exactOptional(),
    settings: z
      .string()
      .max(16)
      .regex(/^[0-9a-f]{16}$/)
      .exactOptional()
      .describe('One digest for the settings that images inherit, such as variables and the user. Absent if they are not known.'),
  })
  .describe('The image for one platform.');

const seenVersion = z
  .object({
    digest: digest('The digest of the index, or of the manifest if there is none.'),
    tags: z.array(z.string().max(128).refine(isTag).describe('A tag.')).max(maxTags).describe('The tags that the image has or had.'),
    seenAt: z.iso.datetime().max(64).describe('When it was first seen.'),
    selected: z.literal(true).exactOptional().describe('Whether the policy has selected it.'),
    used: z.literal(true).exactOptional().describe('Whether an image that is built on it ran. It is never forgotten.'),
    builtFrom: z.string().max(512).regex(sourcePattern).exactOptional().describe('The source that the image names as its own.'),
    platforms: z.array(platform).max(maxPlatforms).describe('The images of its platforms.'),
  })
  .describe('One version.');

export type SeenVersion = Immutable<z.output<typeof seenVersion>>;

/** The spec of a BaseImageRecord. */
export const recordSpecSchema = z
  .object({
    versions: z.array(seenVersion).max(maxInRecord).describe('Versions of the base.'),
  })
  .describe('What a BaseImagePolicy has seen of its base. image-watcher writes it, and Kubernetes deletes it with the policy.');

/** The schema of the resource except `metadata`. */
export const recordSchema = z
  .object({ spec: recordSpecSchema.exactOptional() })
  .describe('The versions of its base that a BaseImagePolicy has seen. image-watcher writes it; do not edit it.');

/** Reads the versions of a record. Others may be permitted to write it: what does not fit is left out. */
export function readVersions(spec: unknown): SeenVersion[] {
  const { versions } = fieldsOf(spec);
  if (!Array.isArray(versions)) return [];
  return versions.slice(0, maxInRecord).flatMap((one: unknown) => seenVersion.safeParse(one).data ?? []);
}
