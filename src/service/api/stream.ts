/** Changes of policies as server-sent events, for pages that stay open. */
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { type Access, AccessError } from './access.ts';
import { summarize } from './policy-view.ts';

/** A policy that was created, changed or deleted. */
export interface PolicyChange {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: ImagePolicy;
}

/** Passes the changes of the cache on to whoever listens at the moment. */
export interface PolicyFeed {
  publish(change: PolicyChange): void;
  /** Returns what ends it. */
  subscribe(listener: (change: PolicyChange) => void): () => void;
}

/** A feed without listeners. */
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

/** Changes of one policy that come together are sent once. */
const gatherMs = 250;
/** Proxies close a connection on which nothing is sent. */
const keepAliveMs = 15_000;
/** The token of a caller may expire, and his account be removed: he connects again, and is authenticated again. */
const lifeMs = 600_000;
const retryMs = 2_000;
/** A page of all policies shows no more, and a client that does not read must not fill the memory. */
const maxNamespaces = 200;
const maxGathered = 10_000;
const maxStreams = 500;
const maxStreamsOfUser = 20;

/** The text of one stream. */
export interface StreamText extends AsyncIterableIterator<string> {
  /** Ends it at once, also while it waits. */
  return(value?: undefined): Promise<IteratorResult<string>>;
}

/** The streams of one process. */
export interface Streams {
  /** The text of a stream for one caller, until it is returned; throws AccessError(503) where there are too many. */
  open(feed: PolicyFeed, access: Access, namespace: string | undefined): StreamText;
}

/** Counts the streams of each user. */
export function createStreams(): Streams {
  const open = new Map<string, number>();
  let total = 0;
  const count = (user: string, by: 1 | -1) => {
    const next = (open.get(user) ?? 0) + by;
    if (next > 0) open.set(user, next);
    else open.delete(user);
    total += by;
  };
  return {
    open(feed, access, namespace) {
      if (total >= maxStreams || (open.get(access.user) ?? 0) >= maxStreamsOfUser)
        throw new AccessError(503, 'too many streams are open; close one, or read /api/v1/policies');
      // Counted when it is read for the first time: one that never is has no end, either.
      const left = new AbortController();
      const texts = streamChanges(feed, { access, namespace, count: (by) => count(access.user, by), left: left.signal });
      const end = () => {
        clearTimeout(timer);
        left.abort();
        return texts.return(undefined);
      };
      // Whoever does not read what was sent would keep it for longer.
      const timer = setTimeout(() => void end(), lifeMs + keepAliveMs).unref();
      return {
        [Symbol.asyncIterator]() {
          return this;
        },
        next: () => texts.next(),
        // A generator ends only where it yields, and this one waits most of the time.
        return: end,
      };
    },
  };
}

interface Listener {
  readonly access: Access;
  readonly namespace: string | undefined;
  readonly count: (by: 1 | -1) => void;
  /** Aborted when nobody reads any more. */
  readonly left: AbortSignal;
}

async function* streamChanges(feed: PolicyFeed, { access, namespace, count, left }: Listener): AsyncGenerator<string> {
  const gathered = new Map<string, PolicyChange>();
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
      // Each namespace is a question to the API server.
      const isCut = changes.length >= maxGathered || new Set(changes.map(({ object }) => object.namespace)).size > maxNamespaces;
      gathered.clear();
      let text = isCut ? 'event: open\ndata: {}\n\n' : '';
      for (const { type, object } of isCut ? [] : changes) {
        if (!(await access.may({ verb: 'get', namespace: object.namespace }))) continue;
        const { namespace: of, name } = object;
        text += type === 'deleted' ? frame('deleted', { namespace: of, name }) : frame('policy', summarize(object));
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

/** Resolves after the time, or when it is woken. */
function pause(ms: number, onWake: (resolve: () => void) => void = () => undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    onWake(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
