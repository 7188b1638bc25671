/** What an image itself shows about the base that it is built on. It never changes for a digest, except for attestations that are pushed later. */
import { z } from 'zod';
import { isDigest, isTag } from '../../core/model/image-reference.ts';

/** How a base was recognized. */
export type RecognizedBy = NamedBase['by'] | 'Layers';

/** A base that an image names: by the digest of an index or a manifest, by a tag, or by the last of its layers. */
export type NamedBase = z.output<typeof namedBase>;

/** The image of one platform. */
export type PlatformFacts = z.output<typeof platformFacts>;

/** The facts about an image of one or several platforms. */
export type BuildFacts = z.output<typeof buildFacts>;

/** At most so many bases that an image names are kept: provenance lists the images of all stages of a build. */
export const maxNamed = 16;
/** At most so many platforms of an index are read. */
export const maxPlatforms = 16;

/** The grammar of `os/architecture/variant`; messages name platforms. */
export const platformPattern = /^(?:[\w.+-]+(?:\/[\w.+-]+){1,2})?$/;
/** A URL, without spaces and control characters. */
export const sourcePattern = /^[\x21-\x7e]{1,512}$/;
const digest = z.string().max(136).refine(isDigest);
const namedBase = z.strictObject({
  by: z.enum(['Annotation', 'Buildpacks', 'Provenance']),
  /** `docker.io/library/nginx`. */
  repository: z.string().max(255).optional(),
  tag: z.string().refine(isTag).optional(),
  digest: digest.optional(),
  /** The diff id of the base's last layer. */
  topLayer: digest.optional(),
});
const platformFacts = z.strictObject({
  /** `linux/arm64/v8`; empty if neither the index nor the configuration names one. */
  platform: z.string().max(200).regex(platformPattern),
  /** The digest of the manifest. */
  digest,
  /** The digests of the uncompressed layers, the lowest first; absent if the configuration cannot be read. */
  diffIds: z.array(digest).max(512).readonly().optional(),
  named: z.array(namedBase).max(maxNamed).readonly(),
});
const buildFacts = z.strictObject({
  /** The digest of the index, or of the manifest if there is none. */
  digest,
  /** In the order of the index; empty if the digest is not an image. */
  platforms: z.array(platformFacts).max(maxPlatforms).readonly(),
  /** The source that the image names as its own: the URL of a repository. */
  builtFrom: z.string().regex(sourcePattern).optional(),
});

/** The facts as text, for a store. */
export function formatFacts(facts: BuildFacts): string {
  return JSON.stringify(facts);
}

/** The facts about `digest` from a store that anybody may have written to; undefined if they are not valid. */
export function parseFacts(text: string, digest: string): BuildFacts | undefined {
  try {
    const facts = buildFacts.safeParse(JSON.parse(text)).data;
    return facts?.digest === digest ? facts : undefined;
  } catch {
    return undefined;
  }
}
