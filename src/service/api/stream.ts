/** Sends changes of policies as server-sent events, for pages that stay open. */
import { defined } from '../../core/model/defined.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { type Access, AccessError } from './access.ts';
import { summarize } from './policy-view.ts';

/** An object that was created, changed or deleted. */
export interface StreamChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: T;
}
export type PolicyChange = StreamChange<ImagePolicy>;

/** The changes of one kind. */
export interface StreamFeed<T> {
  /** Adds a listener; returns the function that removes it. */
  subscribe(listener: (change: StreamChange<T>) => void): () => void;
}

/** Passes the changes of the cache on to the current listeners. */
export interface PolicyFeed extends StreamFeed<ImagePolicy> {
  publish(change: PolicyChange): void;
}

/** The changes of a kind, and how a stream shows them. */
export interface StreamView<T> {
  readonly feed: StreamFeed<T>;
  /** The plural name of the resource, for permissions; ImagePolicies unless given. */
  readonly resource?: string;
  /** The name of the event for an object. */
  readonly event: string;
  readonly show: (object: T) => object;
}

/** The stream of ImagePolicies. */
export function policyStream(feed: StreamFeed<ImagePolicy>): StreamView<ImagePolicy> {
  return { feed, event: 'policy', show: summarize };
}

/** Creates a feed without listeners. */
export function createPolicyFeed(): PolicyFeed {
  const listeners = new Set<(change: PolicyChange) => void>();
  return {
    publish(change) {
      for (const listener of listeners) listener(change);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** How long changes are gathered. Several changes of one policy in this time are sent once. */
const gatherMs = 250;
/** The interval of comments that keep a connection alive, because proxies close a silent one. */
const keepAliveMs = 15_000;
/** How long a stream lives. The caller then connects again and is authenticated again, because his token may have expired, or his account been removed. */
const lifeMs = 600_000;
const retryMs = 2_000;
/** The limit for the namespaces of a stream, as on a page of all policies. A client that does not read must not fill the memory. */
const maxNamespaces = 200;
const maxGathered = 10_000;
const maxStreams = 500;
const maxStreamsOfUser = 20;

/** The text of one stream. */
export interface StreamText extends AsyncIterableIterator<string> {
  /** Ends the text immediately, even while the next part is awaited. */
  return(value?: undefined): Promise<IteratorResult<string>>;
}

/** The streams of one process. */
export interface Streams {
  /**
   * Opens the text of a stream for one caller; it ends when it is returned. If there are too many, the user with the most loses the oldest one. Throws
   * AccessError(503) if that is the caller.
   */
  open<T extends Named>(view: StreamView<T>, access: Access, namespace: string | undefined): StreamText;
}

type Named = Pick<ImagePolicy, 'namespace' | 'name'>;

/** Creates the streams, which are counted for each user. */
export function createStreams(): Streams {
  /** The functions that end the streams of each user, the oldest first. */
  const open = new Map<string, Set<() => unknown>>();
  let total = 0;
  const count = (user: string, end: () => unknown, by: 1 | -1) => {
    const own = open.get(user) ?? new Set();
    if (by === 1) open.set(user, own.add(end));
    else own.delete(end);
    if (own.size === 0) open.delete(user);
    total += by;
  };
  const makeRoom = (user: string) => {
    const own = open.get(user)?.size ?? 0;
    const [most] = total < maxStreams ? [] : [...open.values()].toSorted((a, b) => b.size - a.size);
    const [oldest] = most !== undefined && most.size > own + 1 ? most : [];
    if (own >= maxStreamsOfUser || (total >= maxStreams && oldest === undefined))
      throw new AccessError(503, 'too many streams are open; close one, or read /api/v1/policies');
    oldest?.();
  };
  return {
    open(view, access, namespace) {
      makeRoom(access.user);
      // A stream is counted when it is read for the first time, because one that is never read does not end either.
      const left = new AbortController();
      const texts = streamChanges(view, { access, namespace, count: (by) => count(access.user, end, by), left: left.signal });
      const end = () => {
        clearTimeout(timer);
        left.abort();
        return texts.return(undefined);
      };
      // The timer also ends streams of clients that do not read what was sent.
      const timer = setTimeout(() => void end(), lifeMs + keepAliveMs).unref();
      return {
        [Symbol.asyncIterator]() {
          return this;
        },
        next: () => texts.next(),
        // `return` ends the stream directly, because a generator ends only where it yields, and this one waits most of the time.
        return: end,
      };
    },
  };
}

interface Listener {
  readonly access: Access;
  readonly namespace: string | undefined;
  readonly count: (by: 1 | -1) => void;
  /** Aborted when nobody reads the stream any more. */
  readonly left: AbortSignal;
}

async function* streamChanges<T extends Named>(
  { feed, resource, event, show }: StreamView<T>,
  { access, namespace, count, left }: Listener,
): AsyncGenerator<string> {
  const gathered = new Map<string, StreamChange<T>>();
  let wake: (() => void) | undefined;
  const unsubscribe = feed.subscribe((change) => {
    if (namespace !== undefined && change.object.namespace !== namespace) return;
    if (gathered.size >= maxGathered) return;
    gathered.set(policyKey(change.object), change);
    wake?.();
  });
  left.addEventListener('abort', () => wake?.());
  const endAt = performance.now() + lifeMs;
  count(1);
  try {
    yield `retry: ${retryMs}\nevent: open\ndata: {}\n\n`;
    while (performance.now() < endAt && !left.aborted) {
      if (gathered.size === 0) await pause(keepAliveMs, (resolve) => (wake = resolve));
      if (gathered.size === 0) {
        yield ': nothing new\n\n';
        continue;
      }
      await pause(gatherMs);
      const changes = [...gathered.values()];
      // The number of namespaces is limited, because each costs a request to the API server.
      const isCut = changes.length >= maxGathered || new Set(changes.map(({ object }) => object.namespace)).size > maxNamespaces;
      gathered.clear();
      let text = isCut ? 'event: open\ndata: {}\n\n' : '';
      for (const { type, object } of isCut ? [] : changes) {
        if (!(await access.may({ verb: 'get', ...defined({ resource }), namespace: object.namespace }))) continue;
        const { namespace: of, name } = object;
        text += type === 'deleted' ? frame('deleted', { namespace: of, name }) : frame(event, show(object));
      }
      if (text !== '') yield text;
    }
  } finally {
    unsubscribe();
    count(-1);
  }
}

function frame(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Resolves after the time, or when the function that `onWake` receives is called. */
function pause(ms: number, onWake: (resolve: () => void) => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
