/** What an image is, read from its manifests and its configuration: https://github.com/opencontainers/image-spec */
import { formatRepository, isDigest } from '../core/image-reference.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';
import { readBlob } from './blobs.ts';
import { BoundedMap } from './bounded-map.ts';
import { creationTime, latestTime, notedTime } from './creation-time.ts';
import { headManifest, readManifest } from './manifests.ts';
import { type Descriptor, type ManifestDocument, parseImageConfig, parseManifest } from './parse-manifest.ts';
import type { Session } from './session.ts';
import { SingleFlight } from './single-flight.ts';

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
}

/** What the bytes of one digest say; `undated` are the images of an index of which only they themselves can say when they were created. */
interface Facts extends Image {
  readonly undated?: readonly string[];
}

export interface Images {
  /** Undefined when the registry does not hold it. */
  read(session: Session, reference: string): Promise<Image | undefined>;
  readPlatforms(session: Session, reference: string): Promise<ImagePlatforms | undefined>;
}

const maxImages = 10_000;
const maxPlatforms = 100;
const maxConfigBytes = 4 * 1024 * 1024;
// Entries of an index that do not say their platform, or when they were created, are asked one by one.
const maxAsked = 8;
const imageConfigs = new Set(['application/vnd.oci.image.config.v1+json', 'application/vnd.docker.container.image.v1+json']);

/** Reads images. What a digest names never changes, so that each is read once for all who may see the same, also at the same time. */
export function createImages(credentialVersions: (source: ImageSource) => string): Images {
  const known = new BoundedMap<string, Facts>(maxImages);
  const flights = new SingleFlight<Facts | undefined>();

  const factsOf = async (session: Session, reference: string, depth = 0): Promise<Facts | undefined> => {
    const digest = isDigest(reference) ? reference : (await headManifest(session, reference))?.digest;
    if (digest === undefined) return undefined;
    const key = `${formatRepository(session.source)} ${accessKey(session.source)} ${digest} ${depth}`;
    const read = (signal: AbortSignal) => readFacts({ ...session, signal }, digest, depth);
    const found = known.get(key) ?? (await flights.run(`${key} ${credentialVersions(session.source)}`, read, session.signal));
    if (found) known.set(key, found);
    return found;
  };

  const readFacts = async (session: Session, digest: string, depth: number): Promise<Facts | undefined> => {
    const manifest = await readManifest(session, digest);
    const document = manifest && parseManifest(manifest.bytes);
    if (!document) return undefined;
    const base = { digest, mediaType: manifest.mediaType };
    if (!document.manifests) return { ...base, ...(await readConfig(session, document)) };
    const entries = document.manifests.filter((entry) => !isAttestation(entry));
    const platforms = depth === 0 ? await platformsOf(session, entries) : [];
    const own = notedTime(document.annotations);
    const created = own ?? latestTime(entries.map((entry) => notedTime(entry.annotations)));
    const undated = own ? [] : entries.filter((entry) => !notedTime(entry.annotations)).slice(0, maxAsked);
    return { ...base, platforms, undated: undated.map(({ digest }) => digest), ...(created && { created }) };
  };

  const platformsOf = async (session: Session, entries: readonly Descriptor[]): Promise<string[]> => {
    const unlabelled = entries.filter(({ platform }) => platform === undefined).slice(0, maxAsked);
    const asked = await Promise.all(unlabelled.map((entry) => factsOf(session, entry.digest, 1)));
    const told = entries.flatMap(({ platform }) => (platform ? formatPlatform(platform) : []));
    return [...new Set([...told, ...asked.flatMap((facts) => facts?.platforms ?? [])])].slice(0, maxPlatforms);
  };

  return {
    async read(session, reference) {
      const facts = await factsOf(session, reference);
      if (!facts) return undefined;
      const { undated = [], ...image } = facts;
      const asked = await Promise.all(undated.map((digest) => factsOf(session, digest, 1)));
      const created = latestTime([image.created, ...asked.map((one) => one?.created)]);
      return { ...image, ...(created && { created }) };
    },
    async readPlatforms(session, reference) {
      const facts = await factsOf(session, reference);
      return facts && { digest: facts.digest, mediaType: facts.mediaType, platforms: facts.platforms };
    },
  };
}

async function readConfig(session: Session, { config, annotations }: ManifestDocument): Promise<Pick<Facts, 'platforms' | 'created'>> {
  if (config?.mediaType === undefined || !imageConfigs.has(config.mediaType)) {
    const noted = notedTime(annotations);
    return { platforms: [], ...(noted && { created: noted }) };
  }
  const bytes = await readBlob(session, config.digest, maxConfigBytes);
  // The registry may be about to have it: it accepts no manifest without.
  if (!bytes)
    throw new Error(
      `reading an image of ${formatRepository(session.source)}: the registry does not hold its configuration ${config.digest}`,
    );
  const { os, architecture, variant, config: labelled, created } = parseImageConfig(bytes);
  const at = creationTime(annotations, { labels: labelled?.Labels, created });
  const platforms = os && architecture ? formatPlatform({ os, architecture, variant }) : [];
  return { platforms, ...(at && { created: at }) };
}

/** BuildKit puts provenance and SBOMs beside the images of an index, under a platform that is none. */
function isAttestation({ platform, annotations }: Descriptor): boolean {
  return platform?.os === 'unknown' || annotations?.['vnd.docker.reference.type'] === 'attestation-manifest';
}

function formatPlatform({ os, architecture, variant }: { os: string; architecture: string; variant?: string | undefined }): string[] {
  return os === '' || architecture === '' ? [] : [[os, architecture, ...(variant ? [variant] : [])].join('/')];
}
