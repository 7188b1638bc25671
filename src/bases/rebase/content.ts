/** The manifests and configurations of an image, as they are rewritten: known fields are checked, and all others are kept. Whoever pushes an image chooses them. */
import { z } from 'zod';
import { isDigest, type Repository } from '../../core/model/image-reference.ts';
import { isRecord, parseBoundedJson } from '../../core/model/bounded-json.ts';

/** A descriptor in a manifest or an index. */
export type Descriptor = z.output<typeof descriptor>;
export type IndexDocument = z.output<typeof index>;
export type ManifestDocument = z.output<typeof manifest>;
/** The configuration of an image: https://github.com/opencontainers/image-spec/blob/main/config.md */
export type ConfigDocument = z.output<typeof config>;
/** What containers are started with. */
export type RunConfig = NonNullable<ConfigDocument['config']>;
export type HistoryEntry = z.output<typeof historyEntry>;
export type Texts = Readonly<Record<string, string>>;

/** The image of one platform. */
export interface PlatformContent {
  /** `linux/arm64/v8`. */
  readonly platform: string;
  /** The entry of the index; absent if there is none. */
  readonly entry?: Descriptor;
  readonly mediaType: string;
  readonly manifest: ManifestDocument;
  readonly config: ConfigDocument;
}

/** An image of one or several platforms. */
export interface ImageContent {
  readonly repository: Repository;
  readonly tag?: string | undefined;
  readonly digest: string;
  readonly mediaType: string;
  readonly index?: IndexDocument;
  /** At least one. */
  readonly platforms: readonly PlatformContent[];
  /** How many entries of the index are attestations or something else that is no image. */
  readonly otherEntries: number;
}

/** Container runtimes mount at most so many layers. */
export const maxLayers = 127;
export const maxPlatforms = 32;
const maxEntries = 256;

const short = z.string().max(128);
// Checked by hand: a schema of a record takes microseconds for each name, and an image may have ten thousands.
const texts = z.custom<Record<string, string>>((value) => isRecord(value) && hasTexts(value)).nullish();
const words = z.array(z.string()).max(4_096).nullish();
// Each is compared with each: the author of images must not be able to block the process.
const environment = z.array(z.string()).max(256).nullish();
const names = z.custom<Record<string, unknown>>(isRecord).nullish();
const platform = z.looseObject({
  os: short,
  architecture: short,
  variant: short.optional(),
  'os.version': short.optional(),
  'os.features': z.array(short).max(64).nullish(),
});
const descriptor = z.looseObject({
  mediaType: short,
  digest: z.string().refine(isDigest),
  size: z.int().min(0),
  artifactType: short.optional(),
  urls: z.array(z.string()).max(64).nullish(),
  platform: platform.optional(),
  annotations: texts,
});
const index = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: short.optional(),
  manifests: z.array(descriptor).max(maxEntries),
  annotations: texts,
});
const manifest = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: short.optional(),
  config: descriptor,
  layers: z.array(descriptor).max(512),
  annotations: texts,
});
const runConfig = z.looseObject({
  User: z.string().nullish(),
  Env: environment,
  Entrypoint: words,
  Cmd: words,
  WorkingDir: z.string().nullish(),
  Labels: texts,
  ExposedPorts: names,
  Volumes: names,
  StopSignal: z.string().nullish(),
  OnBuild: words,
});
const historyEntry = z.looseObject({ created_by: z.string().optional(), empty_layer: z.boolean().optional() });
const config = platform.extend({
  created: z.string().max(64).optional(),
  config: runConfig.nullish(),
  rootfs: z.looseObject({ type: z.literal('layers'), diff_ids: z.array(z.string().refine(isDigest)).max(512) }),
  history: z.array(historyEntry).max(2_048).nullish(),
});

function hasTexts(record: object): boolean {
  return Object.entries(record).every(([name, value]) => name.length <= 1_024 && typeof value === 'string');
}

/** Parses an index; undefined for anything else. */
export const parseIndex = (bytes: Buffer): IndexDocument | undefined => parse(index, bytes);
/** Parses the manifest of an image; undefined for anything else. */
export const parseManifest = (bytes: Buffer): ManifestDocument | undefined => parse(manifest, bytes);
/** Parses the configuration of an image; undefined for anything else. */
export const parseConfig = (bytes: Buffer): ConfigDocument | undefined => parse(config, bytes);

function parse<T extends z.ZodType>(schema: T, bytes: Buffer): z.output<T> | undefined {
  try {
    return schema.safeParse(parseBoundedJson(bytes)).data;
  } catch {
    // Not JSON.
    return undefined;
  }
}

/** `linux/arm64/v8`, as a configuration or an entry of an index names it, without characters that could disguise it. */
export function formatPlatform({ os, architecture, variant }: z.output<typeof platform>): string {
  return [os, architecture, ...(variant ? [variant] : [])].join('/').replaceAll(/[^\x21-\x7e]/g, '?');
}
