/** Reads what others wrote: only the fields that are needed, and nothing that has another shape than it should. */
import { z } from 'zod';
import { isDigest } from '../model/image-reference.ts';

/** What a manifest says of a thing that it points at. */
export type Descriptor = z.output<typeof descriptor>;

/** A manifest of an image or of something else (`config`), or an index (`manifests`). */
export type ManifestDocument = z.output<typeof manifest>;

const text = z.string().max(4_096);
const annotations = z.record(z.string(), z.unknown()).transform((record) => {
  const texts = Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
});
/** Those of thousands of images are kept. */
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
const descriptors = z
  .array(z.unknown())
  .max(10_000)
  .transform((entries) => entries.flatMap((entry) => descriptor.safeParse(entry).data ?? []));
const manifest = z
  .object({
    schemaVersion: z.literal(2).optional(),
    mediaType: text.optional().catch(undefined),
    artifactType: text.min(1).optional().catch(undefined),
    layers: descriptors.optional().catch(undefined),
    config: descriptor.optional().catch(undefined),
    manifests: descriptors.optional().catch(undefined),
    annotations: annotations.optional().catch(undefined),
  })
  // Some registries leave it out of the indexes of referrers that they make.
  .refine(({ schemaVersion, manifests }) => schemaVersion !== undefined || manifests !== undefined);
const labelled = z.object({ Labels: annotations.optional().catch(undefined) }).optional();
const imageConfig = platform
  .partial()
  .extend({ created: text.optional(), config: labelled.catch(undefined) })
  .catch({});

/** A manifest or an index, or undefined for anything else. */
export function parseManifest(bytes: Buffer): ManifestDocument | undefined {
  return manifest.safeParse(parseJson(bytes)).data;
}

/** What the configuration of an image says of its platform, its creation and its labels; empty where it says nothing that can be understood. */
export function parseImageConfig(bytes: Buffer): z.output<typeof imageConfig> {
  return imageConfig.parse(parseJson(bytes));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
