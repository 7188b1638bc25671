/** The registry: what it stores, and what its tags point to, with the lag that real ones have between the announcement of a tag and its appearance. */
import { parseManifest } from '../../src/service/registry/parse-manifest.ts';
import type { Clock } from './clock.ts';
import { manifestType, sha256, type StoredImage } from './image-content.ts';

/** One state of a tag. */
interface Pointing {
  readonly digest: string;
  readonly pushedAt: number;
  readonly shownAt: number;
}

/** A manifest as it was pushed. */
export interface StoredManifest {
  readonly digest: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

export interface Registry {
  /** Stores an image and moves a tag to it; the registry shows that a little later. */
  push(repository: string, tag: string, image: StoredImage, lagMs: number): void;
  /** What it shows now. */
  tags(repository: string): ReadonlyMap<string, string>;
  /** Whether it has shown this digest under this tag since then. */
  hasShown(repository: string, tag: string, digest: string, since: number): boolean;
  /** When a digest was first pushed under any tag of a repository; undefined for one that was not. */
  pushedAt(repository: string, digest: string): number | undefined;
  /** The layers of an image. */
  layersOf(digest: string): readonly string[];
  /** Calls the listener with each tag that a replica pushes. */
  onPushed(listener: (repository: string, tag: string, digest: string, sentAt: number) => void): void;
  /** What requests of replicas read and write. */
  readonly store: RegistryStore;
}

/** What requests read and write, by the names of repositories with their host. */
export interface RegistryStore {
  manifest(repository: string, reference: string): StoredManifest | undefined;
  /** All manifests of a repository. */
  manifests(repository: string): readonly StoredManifest[];
  blob(repository: string, digest: string): Buffer | undefined;
  /** Whether a repository has a blob, or a layer. */
  hasBlob(repository: string, digest: string): boolean;
  /** Stores a manifest, and moves a tag to it at once; returns its digest. */
  putManifest(repository: string, manifest: Omit<StoredManifest, 'digest'>, tag: string | undefined, sentAt: number): string;
  putBlob(repository: string, bytes: Buffer): void;
  /** False if the other repository does not have it. */
  mount(repository: string, digest: string, from: string): boolean;
  /** False if there is no such tag. */
  deleteTag(repository: string, tag: string): boolean;
}

/** What a repository has. */
interface Contents {
  readonly tags: Map<string, Pointing[]>;
  readonly manifests: Map<string, StoredManifest>;
  readonly blobs: Map<string, Buffer>;
  /** Layers are known by their digests alone. */
  readonly layers: Set<string>;
}

export function createRegistry(clock: Clock): Registry {
  const repositories = new Map<string, Contents>();
  const listeners: ((repository: string, tag: string, digest: string, sentAt: number) => void)[] = [];
  const contentsOf = (repository: string): Contents => {
    const known = repositories.get(repository) ?? { tags: new Map(), manifests: new Map(), blobs: new Map(), layers: new Set() };
    repositories.set(repository, known);
    return known;
  };
  const shown = (pointings: readonly Pointing[]) => pointings.findLast(({ shownAt }) => shownAt <= clock.now())?.digest;
  const tags = (repository: string) =>
    new Map(
      [...contentsOf(repository).tags].flatMap(([tag, pointings]) =>
        shown(pointings) === undefined ? [] : [[tag, shown(pointings) ?? '']],
      ),
    );
  const point = (repository: string, tag: string, digest: string, lagMs: number) => {
    const { tags } = contentsOf(repository);
    tags.set(tag, [...(tags.get(tag) ?? []), { digest, pushedAt: clock.now(), shownAt: clock.now() + lagMs }]);
  };
  const hasBlob = (repository: string, digest: string) => {
    const { blobs, layers } = contentsOf(repository);
    return blobs.has(digest) || layers.has(digest);
  };
  return {
    push(repository, tag, { digest, manifest, blobs }, lagMs) {
      const contents = contentsOf(repository);
      contents.manifests.set(digest, { digest, mediaType: manifestType, bytes: manifest });
      for (const [digest, bytes] of blobs) contents.blobs.set(digest, bytes);
      for (const layer of layersIn(manifest)) contents.layers.add(layer);
      point(repository, tag, digest, lagMs);
    },
    layersOf(digest) {
      const found = [...repositories.values()].map(({ manifests }) => manifests.get(digest)).find((one) => one !== undefined);
      return found === undefined ? [] : layersIn(found.bytes);
    },
    pushedAt(repository, digest) {
      const times = [...contentsOf(repository).tags.values()].flat().filter((one) => one.digest === digest);
      return times.length === 0 ? undefined : Math.min(...times.map(({ pushedAt }) => pushedAt));
    },
    onPushed: (listener) => void listeners.push(listener),
    tags,
    hasShown(repository, tag, digest, since) {
      const pointings = contentsOf(repository).tags.get(tag) ?? [];
      return pointings.some(
        (one, index) => one.digest === digest && one.shownAt <= clock.now() && (pointings[index + 1]?.shownAt ?? Infinity) >= since,
      );
    },
    store: {
      manifest(repository, reference) {
        const { tags, manifests } = contentsOf(repository);
        return manifests.get(reference.startsWith('sha256:') ? reference : (shown(tags.get(reference) ?? []) ?? ''));
      },
      manifests: (repository) => [...contentsOf(repository).manifests.values()],
      blob: (repository, digest) => contentsOf(repository).blobs.get(digest),
      hasBlob,
      putManifest(repository, { mediaType, bytes }, tag, sentAt) {
        const digest = sha256(bytes);
        contentsOf(repository).manifests.set(digest, { digest, mediaType, bytes });
        if (tag === undefined) return digest;
        point(repository, tag, digest, 0);
        for (const listener of listeners) listener(repository, tag, digest, sentAt);
        return digest;
      },
      putBlob: (repository, bytes) => void contentsOf(repository).blobs.set(sha256(bytes), bytes),
      mount(repository, digest, from) {
        const isThere = hasBlob(from, digest);
        if (isThere) contentsOf(repository).layers.add(digest);
        return isThere;
      },
      deleteTag: (repository, tag) => contentsOf(repository).tags.delete(tag),
    },
  };
}

function layersIn(manifest: Buffer): string[] {
  return parseManifest(manifest)?.layers?.map(({ digest }) => digest) ?? [];
}
