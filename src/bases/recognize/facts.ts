/** What an image shows about the base that it is built on. It never changes for a digest, except for attestations that are pushed later. */
import { z } from 'zod';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import { settingsSchema } from './settings.ts';

/** How a base was recognized. */
export type RecognizedBy = NamedBase['by'] | 'Layers' | 'Origin';

/** A base that an image names: by the digest of an index or a manifest, by a tag, or by the last of its layers. */
export type NamedBase = z.output<typeof namedBase>;

/** The facts about the image of one platform. */
export type PlatformFacts = z.output<typeof platformFacts>;

/** The facts about an image of one or several platforms. */
export type BuildFacts = z.output<typeof buildFacts>;

/** The maximum number of bases that are kept of those an image names. Provenance lists the images of all stages of a build. */
export const maxNamed = 16;
/** The maximum number of platforms of an index to read. */
export const maxPlatforms = 16;

/** The grammar of `os/architecture/variant`. It is strict, because messages name platforms. */
export const platformPattern = /^(?:[\w.+-]+(?:\/[\w.+-]+){1,2})?$/;
/** A URL without spaces and control characters. */
export const sourcePattern = /^[\x21-\x7e]{1,512}$/;
const digest = z.string().max(136).refine(isDigest);
const namedBase = z.strictObject({
  by: z.enum(['Annotation', 'Buildpacks', 'Provenance']),
  /** The repository of the base: `docker.io/library/nginx`. */
  repository: z.string().max(255).optional(),
  tag: z.string().refine(isTag).optional(),
  digest: digest.optional(),
  /** The diff id of the base's last layer. */
  topLayer: digest.optional(),
});
const platformFacts = z.strictObject({
  /** The platform: `linux/arm64/v8`; empty if neither the index nor the configuration names one. */
  platform: z.string().max(200).regex(platformPattern),
  /** The digest of the manifest of the platform. */
  digest,
  /** The digests of the uncompressed layers, the lowest layer first; absent if the configuration cannot be read. */
  diffIds: z.array(digest).max(512).readonly().optional(),
  /** The settings that images inherit; absent if the configuration cannot be read, or has too many. */
  settings: settingsSchema.optional(),
  named: z.array(namedBase).max(maxNamed).readonly(),
});
const buildFacts = z.strictObject({
  /** The digest of the index, or of the manifest if there is none. */
  digest,
  /** The platforms in the order of the index; empty if the digest is not an image. */
  platforms: z.array(platformFacts).max(maxPlatforms).readonly(),
  /** The image of which this one says that it was rebased from it. Untrusted, as everything that an image names. */
  rebasedFrom: z.strictObject({ repository: z.string().max(255), digest }).optional(),
  /** The source that the image names as its own: the URL of a repository. */
  builtFrom: z.string().regex(sourcePattern).optional(),
});

/** The facts as a text for a store. */
export function formatFacts(facts: BuildFacts): string {
  return JSON.stringify(facts);
}

/** Parses the facts about `digest` from a store, whose texts are untrusted; undefined if they are not valid. */
export function parseFacts(text: string, digest: string): BuildFacts | undefined {
  try {
    const facts = buildFacts.safeParse(JSON.parse(text)).data;
    return facts?.digest === digest ? facts : undefined;
  } catch {
    return undefined;
  }
}
