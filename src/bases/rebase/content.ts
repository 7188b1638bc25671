/** The manifests and configurations of an image, as they are rewritten. Known fields are checked, and all others are kept. Their content is untrusted. */
import { isObject } from '../../core/model/untyped.ts';
import { z } from 'zod';
import { isDigest, type Repository } from '../../core/model/image-reference.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';
import type { FileSigns } from './file-signs.ts';

/** A descriptor in a manifest or an index. */
export type Descriptor = z.output<typeof descriptor>;
export type IndexDocument = z.output<typeof index>;
export type ManifestDocument = z.output<typeof manifest>;
/** The configuration of an image: https://github.com/opencontainers/image-spec/blob/main/config.md */
export type ConfigDocument = z.output<typeof config>;
/** The settings with which containers are started. */
export type RunConfig = NonNullable<ConfigDocument['config']>;
export type HistoryEntry = z.output<typeof historyEntry>;
export type Texts = Readonly<Record<string, string>>;

/** The image of one platform. */
export interface PlatformContent {
  /** The platform of the image: `linux/arm64/v8`. */
  readonly platform: string;
  /** The entry of the platform in the index; absent if there is no index. */
  readonly entry?: Descriptor;
  readonly mediaType: string;
  readonly manifest: ManifestDocument;
  readonly config: ConfigDocument;
  /** What the files of a base show; absent if they were not read. */
  readonly files?: FileSigns;
}

/** An image of one or several platforms. */
export interface ImageContent {
  readonly repository: Repository;
  readonly tag?: string | undefined;
  readonly digest: string;
  readonly mediaType: string;
  readonly index?: IndexDocument;
  /** The images of the platforms; at least one. */
  readonly platforms: readonly PlatformContent[];
  /** The number of entries of the index that are no image, such as attestations. */
  readonly otherEntries: number;
}

/** The maximum number of layers that container runtimes mount. */
export const maxLayers = 127;
export const maxPlatforms = 32;
const maxEntries = 256;

const short = z.string().max(128);
// A custom check: a schema of a record takes microseconds for each name, and an image may have ten thousands.
const texts = z.custom<Record<string, string>>((value) => isObject(value) && hasTexts(value)).nullish();
const words = z.array(z.string()).max(4_096).nullish();
// Limited, because each variable is compared with each, and the author of an image must not be able to block the process.
const environment = z.array(z.string()).max(256).nullish();
const names = z.custom<Record<string, unknown>>(isObject).nullish();
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
    // The bytes are not JSON.
    return undefined;
  }
}

/** The platform that a configuration or an entry of an index names, such as `linux/arm64/v8`, without characters that could disguise it. */
export function formatPlatform({ os, architecture, variant }: z.output<typeof platform>): string {
  return [os, architecture, ...(variant ? [variant] : [])].join('/').replaceAll(/[^\x21-\x7e]/g, '?');
}
