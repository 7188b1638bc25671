/** Reads images from their manifests and configurations: https://github.com/opencontainers/image-spec */
import { defined } from '../../core/model/defined.ts';
import { isAttestation, isImageConfigType, type Unusable, whyUnusable } from '../../core/model/artifact.ts';
import { maxJsonBytes } from '../../core/model/bounded-json.ts';
import { formatRepository, isDigest } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource } from '../../core/model/image-source.ts';
import { headManifest, type Manifest, readBlob, readManifest } from './manifests.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { creationTime, latestTime, annotatedTime, parseImageConfig, parseManifest } from './parse-manifest.ts';
import type { Session } from './session.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';

/** The platforms of an image. Reading them costs one or two requests; of an index, only the index itself is read. */
export interface ImagePlatforms {
  readonly digest: string;
  readonly mediaType: string;
  /** `linux/amd64`, `linux/arm/v7`: without duplicates, in the order of the index, at most 100; empty if the digest is not an image. */
  readonly platforms: readonly string[];
}

/** An image of one or several platforms. */
export interface Image extends ImagePlatforms {
  /** The creation time that the image names; for an index without one, the latest of its images. */
  readonly created?: Date;
  /** Why the digest cannot be selected as an image, or as another kind of artifact. */
  readonly unusable: Unusable;
}

/** The parts of a manifest that are cached. */
interface Summary {
  readonly digest: string;
  readonly mediaType: string;
  readonly unusable: Unusable;
  /** The creation time in the annotations of the manifest, or of the entries of the index. */
  readonly annotated?: Date | undefined;
  /** The digest of an image's configuration. */
  readonly config?: string | undefined;
  readonly platforms: readonly string[];
  /** The images of an index whose entries have no platform. It must be read from their configurations. */
  readonly withoutPlatform: readonly string[];
  /** The images of an index whose entries have no creation time. It must be read from their manifests and configurations. */
  readonly withoutTime: readonly string[];
}

/** The details of an image that are read from its manifest and its configuration. */
type Details = Pick<Image, 'platforms' | 'created'>;

/** A reader of images with a cache. */
export interface Images {
  /** The image of a tag or digest; undefined for 404. */
  read(session: Session, reference: string): Promise<Image | undefined>;
  /** The platforms of a tag or digest; undefined for 404. */
  readPlatforms(session: Session, reference: string): Promise<ImagePlatforms | undefined>;
  /** The digest of a tag, by a GET whose manifest is cached, so that `whyUnusable` needs no further request; undefined for 404. */
  resolve(session: Session, tag: string): Promise<{ readonly digest: string } | undefined>;
  /** Why a digest cannot be selected as an image, or as another kind of artifact. Rejects if the registry does not have it. */
  whyUnusable(session: Session, digest: string): Promise<Unusable>;
}

const maxImages = 10_000;
const maxPlatforms = 100;
const maxConfigBytes = maxJsonBytes;
// How many images of an index are read one by one because their entries have no platform or no creation time.
const maxReadEntries = 8;

/** Creates a reader of images. The content of a digest never changes, so each digest is read once for all policies with the same access. */
export function createImages(credentialVersions: (source: ImageSource) => string): Images {
  const summaries = createDigestCache<Summary>(credentialVersions);
  const details = createDigestCache<Details>(credentialVersions);

  const summaryOf = (session: Session, digest: string) =>
    summaries.read(session, digest, async (session) => {
      const manifest = await readManifest(session, digest);
      return manifest && summarise(manifest);
    });

  const detailsOf = (session: Session, { digest, config, annotated, platforms, withoutPlatform }: Summary) =>
    details.read(session, digest, async (session): Promise<Details> => {
      if (config !== undefined) return readConfig(session, config, annotated);
      const asked = await Promise.all(withoutPlatform.map((entry) => entryDetails(session, entry)));
      const all = [...platforms, ...asked.flatMap((entry) => entry?.platforms ?? [])];
      return { platforms: [...new Set(all)].slice(0, maxPlatforms), ...defined({ created: annotated }) };
    });

  /** The details of an image in an index; nested indexes are not read. */
  const entryDetails = async (session: Session, digest: string): Promise<Details | undefined> => {
    const summary = await summaryOf(session, digest);
    if (summary?.config === undefined) return summary?.annotated && { platforms: [], created: summary.annotated };
    return detailsOf(session, summary);
  };

  const find = async (session: Session, reference: string) => {
    const digest = isDigest(reference) ? reference : (await headManifest(session, reference))?.digest;
    return digest === undefined ? undefined : summaryOf(session, digest);
  };

  const explain = async (session: Session, { unusable, platforms, withoutPlatform }: Summary): Promise<Unusable> => {
    if (unusable.Image !== undefined || platforms.length > 0 || withoutPlatform.length === 0) return unusable;
    const asked = await Promise.all(withoutPlatform.map(async (entry) => summaryOf(session, entry)));
    const images = asked.filter((entry) => entry?.unusable.Image === undefined);
    return images.length > 0 ? unusable : { ...unusable, Image: `it is an index without an image: ${asked[0]?.unusable.Image}` };
  };

  return {
    async read(session, reference) {
      const summary = await find(session, reference);
      if (!summary) return undefined;
      const { digest, mediaType, annotated, withoutTime } = summary;
      const unusable = await explain(session, summary);
      if (unusable.Image !== undefined) return { digest, mediaType, platforms: [], ...defined({ created: annotated }), unusable };
      const { platforms, created: own } = (await detailsOf(session, summary)) ?? { platforms: [] };
      const asked = await Promise.all(withoutTime.map((entry) => entryDetails(session, entry)));
      const created = latestTime([own, ...asked.map((entry) => entry?.created)]);
      return { digest, mediaType, platforms, ...defined({ created }), unusable };
    },
    async readPlatforms(session, reference) {
      const summary = await find(session, reference);
      if (!summary) return undefined;
      const { digest, mediaType, unusable } = summary;
      const details = unusable.Image === undefined ? await detailsOf(session, summary) : undefined;
      return { digest, mediaType, platforms: details?.platforms ?? [] };
    },
    async resolve(session, tag) {
      const manifest = await readManifest(session, tag);
      if (!manifest) return undefined;
      summaries.remember(session, manifest.digest, summarise(manifest));
      return { digest: manifest.digest };
    },
    async whyUnusable(session, digest) {
      const summary = await summaryOf(session, digest);
      if (!summary) throw new Error(`${formatRepository(session.source)} holds no image ${digest}, which it named a moment ago`);
      return explain(session, summary);
    },
  };
}

/** Creates a cache by digest and access. Concurrent reads of the same digest share one request. */
function createDigestCache<T extends object>(credentialVersions: (source: ImageSource) => string) {
  const known = new BoundedMap<string, T>(maxImages);
  const flights = new SingleFlight<T | undefined>();
  return {
    async read(session: Session, digest: string, fetch: (session: Session) => Promise<T | undefined>): Promise<T | undefined> {
      const key = keyOf(session, digest);
      const run = (signal: AbortSignal) => fetch({ ...session, signal });
      const found = known.get(key) ?? (await flights.run(`${key} ${credentialVersions(session.source)}`, run, session.signal));
      if (found) known.set(key, found);
      return found;
    },
    remember: (session: Session, digest: string, found: T) => void known.set(keyOf(session, digest), found),
  };
}

function keyOf({ source }: Session, digest: string): string {
  return sourceKey(source, digest);
}

function summarise({ digest, mediaType, bytes }: Manifest): Summary {
  const document = parseManifest(bytes) ?? {};
  const { config, annotations } = document;
  const own = annotatedTime(annotations);
  const base = { digest, mediaType, unusable: whyUnusable(document) };
  if (!document.manifests) {
    const isImageConfig = config?.mediaType !== undefined && isImageConfigType(config.mediaType);
    return {
      ...base,
      annotated: own,
      config: isImageConfig ? config.digest : undefined,
      platforms: [],
      withoutPlatform: [],
      withoutTime: [],
    };
  }
  const entries = document.manifests.filter((entry) => !isAttestation(entry));
  const platforms = new Set(entries.flatMap(({ platform }) => (platform ? formatPlatform(platform) : [])));
  const withoutPlatform = entries.filter(({ platform }) => platform === undefined).slice(0, maxReadEntries);
  const withoutTime = own ? [] : entries.filter((entry) => !annotatedTime(entry.annotations)).slice(0, maxReadEntries);
  return {
    ...base,
    annotated: own ?? latestTime(entries.map((entry) => annotatedTime(entry.annotations))),
    platforms: [...platforms].slice(0, maxPlatforms),
    withoutPlatform: withoutPlatform.map(({ digest }) => digest),
    withoutTime: withoutTime.map(({ digest }) => digest),
  };
}

async function readConfig(session: Session, digest: string, annotated: Date | undefined): Promise<Details> {
  const bytes = await readBlob(session, digest, maxConfigBytes);
  // A missing configuration is retried. A registry accepts a manifest only after its configuration, so the configuration may appear soon.
  if (!bytes)
    throw new Error(`reading an image of ${formatRepository(session.source)}: the registry does not hold its configuration ${digest}`);
  const { os, architecture, variant, config, created: built } = parseImageConfig(bytes);
  const created = creationTime(annotated, { labels: config?.Labels, built });
  const platforms = os && architecture ? formatPlatform({ os, architecture, variant }) : [];
  return { platforms, ...defined({ created }) };
}

function formatPlatform({ os, architecture, variant }: { os: string; architecture: string; variant?: string | undefined }): string[] {
  return os === '' || architecture === '' ? [] : [[os, architecture, ...(variant ? [variant] : [])].join('/')];
}
