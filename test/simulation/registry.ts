/** The registry: tags and what they point to, with the lag that real ones have between the announcement of a tag and its appearance. */
import { WaitError } from '../../src/core/model/errors.ts';
import { formatRepository } from '../../src/core/model/image-reference.ts';
import type { RegistryClient } from '../../src/service/registry/client.ts';
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import type { RegistryPush } from '../../src/service/registry/push.ts';
import type { Clock } from './clock.ts';
import { manifestType as mediaType, sha256, type StoredImage } from './image-content.ts';
import type { Network } from './network.ts';

/** One state of a tag. */
interface Pointing {
  readonly digest: string;
  readonly pushedAt: number;
  readonly shownAt: number;
}

export interface Registry {
  /** Moves a tag; the registry shows it a little later. */
  push(repository: string, tag: string, digest: string, lagMs: number): void;
  /** Removes a tag. */
  remove(repository: string, tag: string): void;
  /** What it shows now. */
  tags(repository: string): ReadonlyMap<string, string>;
  /** Whether it has shown this digest under this tag since then. */
  hasShown(repository: string, tag: string, digest: string, since: number): boolean;
  /** Stores the contents of an image, so that more than its digest can be read. */
  store(repository: string, image: StoredImage): void;
  /** The layers of an image whose contents are stored. */
  layersOf(digest: string): readonly string[];
  /** Calls the listener with each tag that a replica pushes. */
  onPushed(listener: (repository: string, tag: string, digest: string, sentAt: number) => void): void;
  client(): RegistryClient;
}

export function createRegistry(clock: Clock, network: Network): Registry {
  const repositories = new Map<string, Map<string, Pointing[]>>();
  /** Manifests and blobs by repository and digest. Layers are known by their digests alone. */
  const contents = new Map<string, Buffer>();
  /** The same by digest alone. */
  const byDigest = new Map<string, Buffer>();
  const put = (repository: string, digest: string, bytes: Buffer) => {
    contents.set(`${repository} ${digest}`, bytes);
    byDigest.set(digest, bytes);
  };
  const mounted = new Set<string>();
  const listeners: ((repository: string, tag: string, digest: string, sentAt: number) => void)[] = [];
  const tagsOf = (repository: string) => {
    const known = repositories.get(repository) ?? new Map<string, Pointing[]>();
    repositories.set(repository, known);
    return known;
  };
  const shown = (pointings: readonly Pointing[]) => pointings.findLast(({ shownAt }) => shownAt <= clock.now())?.digest;
  const tags = (repository: string) =>
    new Map([...tagsOf(repository)].flatMap(([tag, pointings]) => (shown(pointings) === undefined ? [] : [[tag, shown(pointings) ?? '']])));
  const ask = <T>(what: string, signal: AbortSignal | undefined, serve: (sentAt: number) => T): Promise<T> =>
    network.send({
      server: 'registry',
      what,
      serve,
      refusal: (kind) => {
        const pauseMs = kind === 'throttled' ? 3_000 : 1_500;
        return new WaitError(
          kind === 'throttled' ? 'RegistryThrottled' : 'RegistryUnavailable',
          new Date(Date.now() + pauseMs),
          'simulated',
        );
      },
      timeoutMs: 10_000,
      signal,
    });
  const resolve = (repository: string, reference: string) => {
    const digests = [...tagsOf(repository).values()].flat().map(({ digest }) => digest);
    if (!reference.startsWith('sha256:')) return tags(repository).get(reference);
    return contents.has(`${repository} ${reference}`) ? reference : digests.find((digest) => digest === reference);
  };
  const contentOf = (repository: string, digest: string | undefined) => contents.get(`${repository} ${digest}`);
  const openPush = (source: Parameters<RegistryClient['openPush']>[0], confirm = () => Promise.resolve()): RegistryPush => {
    const repository = formatRepository(source);
    /** Who pushes is asked before each request that writes. */
    const write = async <T>(what: string, signal: AbortSignal | undefined, serve: (sentAt: number) => T): Promise<T> => {
      await confirm();
      return ask(what, signal, serve);
    };
    const putNew = (bytes: Buffer) => {
      const digest = sha256(bytes);
      put(repository, digest, bytes);
      return digest;
    };
    const putManifest = (bytes: Buffer, sentAt: number, tag?: string) => {
      const digest = putNew(bytes);
      if (tag === undefined) return digest;
      push(repository, tag, digest, 0);
      for (const listener of listeners) listener(repository, tag, digest, sentAt);
      return digest;
    };
    return {
      hasBlob: (digest, signal) =>
        ask('HEAD blob', signal, () => mounted.has(`${repository} ${digest}`) || contentOf(repository, digest) !== undefined),
      mountBlob: (digest, _from, signal) =>
        write('POST blob', signal, () => {
          mounted.add(`${repository} ${digest}`);
          return true;
        }),
      pushBlob: (bytes, signal) => write('PUT blob', signal, () => putNew(bytes)),
      pushManifest: ({ bytes }, tag, signal) => write('PUT manifest', signal, (sentAt) => putManifest(bytes, sentAt, tag)),
      pushReferrer: ({ bytes }, _subject, signal) => write('PUT manifest', signal, () => putNew(bytes)),
      transferred: { uploadedBytes: 0, mountedBlobs: 0 },
    };
  };
  const push: Registry['push'] = (repository, tag, digest, lagMs) => {
    const pointings = tagsOf(repository).get(tag) ?? [];
    tagsOf(repository).set(tag, [...pointings, { digest, pushedAt: clock.now(), shownAt: clock.now() + lagMs }]);
  };
  const read = (repository: string, reference: string) => {
    const digest = resolve(repository, reference);
    return digest === undefined ? undefined : { digest, mediaType, platforms: ['linux/amd64'] };
  };
  return {
    push,
    store(repository, { blobs }) {
      for (const [digest, bytes] of blobs) put(repository, digest, bytes);
    },
    layersOf(digest) {
      const bytes = byDigest.get(digest);
      const { layers } = fieldsOf(bytes && parse(bytes));
      return Array.isArray(layers) ? layers.map((layer: unknown) => textOrEmpty(fieldsOf(layer)['digest'])) : [];
    },
    onPushed: (listener) => void listeners.push(listener),
    remove: (repository, tag) => void tagsOf(repository).delete(tag),
    tags,
    hasShown(repository, tag, digest, since) {
      const pointings = tagsOf(repository).get(tag) ?? [];
      return pointings.some(
        (one, index) => one.digest === digest && one.shownAt <= clock.now() && (pointings[index + 1]?.shownAt ?? Infinity) >= since,
      );
    },
    client() {
      const unused = () => Promise.reject(new Error('the simulation does not model this'));
      return {
        headManifest: (source, reference, signal) =>
          ask('HEAD', signal, () => {
            const digest = resolve(formatRepository(source), reference);
            return digest === undefined ? undefined : { digest, mediaType };
          }),
        resolveTag: (source, tag, signal) => ask('GET manifest', signal, () => read(formatRepository(source), tag)),
        whyNotRunnable: () => Promise.resolve(undefined),
        readImage: (source, reference, signal) => ask('GET image', signal, () => read(formatRepository(source), reference)),
        readPlatforms: (source, reference, signal) => ask('GET image', signal, () => read(formatRepository(source), reference)),
        listTags: (source, signal) => ask('LIST tags', signal, () => [...tags(formatRepository(source)).keys()]),
        readManifest: (source, reference, signal) =>
          ask('GET manifest', signal, () => {
            const digest = resolve(formatRepository(source), reference);
            const bytes = contentOf(formatRepository(source), digest);
            return digest === undefined || bytes === undefined ? undefined : { digest, mediaType, bytes };
          }),
        readBlob: (source, digest, _maxBytes, signal) => ask('GET blob', signal, () => contentOf(formatRepository(source), digest)),
        listReferrers: () => Promise.resolve([]),
        probe: unused,
        routeOf: () => undefined,
        openPush: (source, _credentials, confirm) => openPush(source, confirm),
        close: () => Promise.resolve(),
      };
    },
  };
}

function parse(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8'));
}
