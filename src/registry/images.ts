/** What an image is, read from its manifests and its configuration: https://github.com/opencontainers/image-spec */
import { isAttestation, isImageConfigType, whyNoImage } from '../model/artifact.ts';
import { formatRepository, isDigest } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';
import { headManifest, type Manifest, readBlob, readManifest } from './manifests.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { creationTime, latestTime, notedTime, parseImageConfig, parseManifest } from './parse-manifest.ts';
import type { Session } from './session.ts';
import { SingleFlight } from '../async/single-flight.ts';

/** What of an image costs one or two requests: of an index, only its own bytes are read. */
export interface ImagePlatforms {
  readonly digest: string;
  readonly mediaType: string;
  /** `linux/amd64`, `linux/arm/v7`: each once, in the order of the index, and of very many the first; none for what is no image. */
  readonly platforms: readonly string[];
}

/** An image of one or several platforms. */
export interface Image extends ImagePlatforms {
  /** When it was created, by its own word; an index where it says nothing itself when the newest of its images was. */
  readonly created?: Date;
  /** Why it is no image that can run, for the end of a sentence; absent where it is one. */
  readonly noImage?: string;
}

/** What the bytes of a manifest say by themselves: all that is kept of them. */
interface Summary {
  readonly digest: string;
  readonly mediaType: string;
  readonly noImage?: string | undefined;
  /** The time that the manifest or the entries of the index name. */
  readonly noted?: Date | undefined;
  /** The digest of an image's configuration. */
  readonly config?: string | undefined;
  readonly platforms: readonly string[];
  /** Images of an index that alone can say what their platform is. */
  readonly unlabelled: readonly string[];
  /** Images of an index that alone can say when they were created. */
  readonly undated: readonly string[];
}

/** What an image says of its platform and its creation, in its configuration as well. */
type Details = Pick<Image, 'platforms' | 'created'>;

export interface Images {
  /** Undefined when the registry does not hold it. */
  read(session: Session, reference: string): Promise<Image | undefined>;
  readPlatforms(session: Session, reference: string): Promise<ImagePlatforms | undefined>;
  /** What a tag points at; what that is is known then. */
  resolve(session: Session, tag: string): Promise<{ readonly digest: string } | undefined>;
  /** Why a digest is no image that can run. Undefined where it is one; rejects where the registry does not hold it. */
  whyNoImage(session: Session, digest: string): Promise<string | undefined>;
}

const maxImages = 10_000;
const maxPlatforms = 100;
const maxConfigBytes = 4 * 1024 * 1024;
// Entries of an index that do not say their platform, or when they were created, are asked one by one.
const maxAsked = 8;

/** Reads images. What a digest names never changes, so that each is read once for all who may see the same, also at the same time. */
export function createImages(credentialVersions: (source: ImageSource) => string): Images {
  const summaries = remembering<Summary>(credentialVersions);
  const details = remembering<Details>(credentialVersions);

  const summaryOf = (session: Session, digest: string) =>
    summaries.read(session, digest, async (session) => {
      const manifest = await readManifest(session, digest);
      return manifest && summarise(manifest);
    });

  const detailsOf = (session: Session, { digest, config, noted, platforms, unlabelled }: Summary) =>
    details.read(session, digest, async (session): Promise<Details> => {
      if (config !== undefined) return readConfig(session, config, noted);
      const asked = await Promise.all(unlabelled.map((entry) => entryDetails(session, entry)));
      const all = [...platforms, ...asked.flatMap((entry) => entry?.platforms ?? [])];
      return { platforms: [...new Set(all)].slice(0, maxPlatforms), ...(noted && { created: noted }) };
    });

  /** Of an image in an index; what is nested deeper is not asked. */
  const entryDetails = async (session: Session, digest: string): Promise<Details | undefined> => {
    const summary = await summaryOf(session, digest);
    if (summary?.config === undefined) return summary?.noted && { platforms: [], created: summary.noted };
    return detailsOf(session, summary);
  };

  const find = async (session: Session, reference: string) => {
    const digest = isDigest(reference) ? reference : (await headManifest(session, reference))?.digest;
    return digest === undefined ? undefined : summaryOf(session, digest);
  };

  const explain = async (session: Session, { noImage, platforms, unlabelled }: Summary): Promise<string | undefined> => {
    if (noImage !== undefined || platforms.length > 0 || unlabelled.length === 0) return noImage;
    const asked = await Promise.all(unlabelled.map(async (entry) => summaryOf(session, entry)));
    const images = asked.filter((entry) => entry?.noImage === undefined);
    return images.length > 0 ? undefined : `it is an index of what is no image: ${asked[0]?.noImage}`;
  };

  return {
    async read(session, reference) {
      const summary = await find(session, reference);
      if (!summary) return undefined;
      const { digest, mediaType, noted, undated } = summary;
      const noImage = await explain(session, summary);
      if (noImage !== undefined) return { digest, mediaType, platforms: [], ...(noted && { created: noted }), noImage };
      const { platforms, created: own } = (await detailsOf(session, summary)) ?? { platforms: [] };
      const asked = await Promise.all(undated.map((entry) => entryDetails(session, entry)));
      const created = latestTime([own, ...asked.map((entry) => entry?.created)]);
      return { digest, mediaType, platforms, ...(created && { created }) };
    },
    async readPlatforms(session, reference) {
      const summary = await find(session, reference);
      if (!summary) return undefined;
      const { digest, mediaType, noImage } = summary;
      const details = noImage === undefined ? await detailsOf(session, summary) : undefined;
      return { digest, mediaType, platforms: details?.platforms ?? [] };
    },
    async resolve(session, tag) {
      const manifest = await readManifest(session, tag);
      if (!manifest) return undefined;
      summaries.remember(session, manifest.digest, summarise(manifest));
      return { digest: manifest.digest };
    },
    async whyNoImage(session, digest) {
      const summary = await summaryOf(session, digest);
      if (!summary) throw new Error(`${formatRepository(session.source)} holds no image ${digest}, which it named a moment ago`);
      return explain(session, summary);
    },
  };
}

/** What is known of digests, each read once for all who may see the same. */
function remembering<T extends object>(credentialVersions: (source: ImageSource) => string) {
  const known = new BoundedMap<string, T>(maxImages);
  const flights = new SingleFlight<T | undefined>();
  return {
    async read(session: Session, digest: string, readAnew: (session: Session) => Promise<T | undefined>): Promise<T | undefined> {
      const key = keyOf(session, digest);
      const run = (signal: AbortSignal) => readAnew({ ...session, signal });
      const found = known.get(key) ?? (await flights.run(`${key} ${credentialVersions(session.source)}`, run, session.signal));
      if (found) known.set(key, found);
      return found;
    },
    remember: (session: Session, digest: string, found: T) => void known.set(keyOf(session, digest), found),
  };
}

function keyOf({ source }: Session, digest: string): string {
  return `${formatRepository(source)} ${accessKey(source)} ${digest}`;
}

function summarise({ digest, mediaType, bytes }: Manifest): Summary {
  const document = parseManifest(bytes) ?? {};
  const { config, annotations } = document;
  const own = notedTime(annotations);
  const base = { digest, mediaType, noImage: whyNoImage(document) };
  if (!document.manifests) {
    const isImageConfig = config?.mediaType !== undefined && isImageConfigType(config.mediaType);
    return { ...base, noted: own, config: isImageConfig ? config.digest : undefined, platforms: [], unlabelled: [], undated: [] };
  }
  const entries = document.manifests.filter((entry) => !isAttestation(entry));
  const platforms = new Set(entries.flatMap(({ platform }) => (platform ? formatPlatform(platform) : [])));
  const unlabelled = entries.filter(({ platform }) => platform === undefined).slice(0, maxAsked);
  const undated = own ? [] : entries.filter((entry) => !notedTime(entry.annotations)).slice(0, maxAsked);
  return {
    ...base,
    noted: own ?? latestTime(entries.map((entry) => notedTime(entry.annotations))),
    platforms: [...platforms].slice(0, maxPlatforms),
    unlabelled: unlabelled.map(({ digest }) => digest),
    undated: undated.map(({ digest }) => digest),
  };
}

async function readConfig(session: Session, digest: string, noted: Date | undefined): Promise<Details> {
  const bytes = await readBlob(session, digest, maxConfigBytes);
  // The registry may be about to have it: it accepts no manifest without.
  if (!bytes)
    throw new Error(`reading an image of ${formatRepository(session.source)}: the registry does not hold its configuration ${digest}`);
  const { os, architecture, variant, config, created: built } = parseImageConfig(bytes);
  const created = creationTime(noted, { labels: config?.Labels, built });
  const platforms = os && architecture ? formatPlatform({ os, architecture, variant }) : [];
  return { platforms, ...(created && { created }) };
}

function formatPlatform({ os, architecture, variant }: { os: string; architecture: string; variant?: string | undefined }): string[] {
  return os === '' || architecture === '' ? [] : [[os, architecture, ...(variant ? [variant] : [])].join('/')];
}
