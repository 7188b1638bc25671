/** Sends changes of policies as server-sent events, for pages that stay open. */
import { defined } from '../../core/model/defined.ts';
import { policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { type Access, AccessError, type Question } from './access.ts';
import { isOnlyChecked } from './only-checked.ts';
import { summarize } from './policy-view.ts';
import type { StreamFilter } from './stream-query.ts';

/** An object that was created, changed or deleted. */
export interface StreamChange<T> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: T;
  /** The object before; absent if that is not known. */
  readonly previous?: T | undefined;
  /** The object is as it was, and its workloads have other pods, which only the page of the object shows. */
  readonly isOfPods?: boolean;
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
  /** Whether lists show nothing of a change; none unless given. */
  readonly isQuiet?: (object: T, previous: T | undefined) => boolean;
}

/** The stream of ImagePolicies. */
export function policyStream(feed: StreamFeed<ImagePolicy>): StreamView<ImagePolicy> {
  return { feed, event: 'policy', show: summarize, isQuiet: isOnlyChecked };
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
/** How often a brief stream says at most that something has changed, and how much longer that takes for each open stream. Its readers then read a list again. */
const briefMs = 1_000;
const briefMsOfStream = 25;
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
  open<T extends Named>(view: StreamView<T>, access: Access, filter: StreamFilter): StreamText;
  /** Has all readers read again, because more has changed than the streams can say. */
  announce(): void;
}

type Named = Pick<ImagePolicy, 'namespace' | 'name'>;

/** Creates the streams, which are counted for each user. */
export function createStreams(): Streams {
  /** The functions that end the streams of each user, the oldest first. */
  const open = new Map<string, Set<() => unknown>>();
  let total = 0;
  const announcing = new Set<() => void>();
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
    announce() {
      for (const announceTo of announcing) announceTo();
    },
    open(view, access, filter) {
      makeRoom(access.user);
      // A stream is counted when it is read for the first time, because one that is never read does not end either.
      const left = new AbortController();
      const texts = streamChanges(view, {
        access,
        filter,
        announcing,
        open: () => total,
        count: (by) => count(access.user, end, by),
        left: left.signal,
      });
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
  readonly filter: StreamFilter;
  /** What is called when everything is to be read again. */
  readonly announcing: Set<() => void>;
  /** The number of open streams. */
  readonly open: () => number;
  readonly count: (by: 1 | -1) => void;
  /** Aborted when nobody reads the stream any more. */
  readonly left: AbortSignal;
}

async function* streamChanges<T extends Named>(
  view: StreamView<T>,
  { access, filter: { namespace, name, isBrief = false, records }, announcing, open, count, left }: Listener,
): AsyncGenerator<string> {
  const gathered = new Map<string, StreamChange<T>>();
  /** Questions about the caller. Whoever is permitted one of them may see something that was recorded. */
  const heard = new Map<string, Question>();
  let resume: (() => void) | undefined;
  const unsubscribe = view.feed.subscribe((change) => {
    const { object } = change;
    if ((namespace !== undefined && object.namespace !== namespace) || (name !== undefined && object.name !== name)) return;
    const isOfOne = isBrief && name !== undefined;
    if (gathered.size >= maxGathered || (!isOfOne && change.isOfPods === true) || (isBrief && !isOfOne && isQuiet(change, view))) return;
    // What a brief stream says is the same for all policies of a namespace.
    gathered.set(isBrief ? object.namespace : policyKey(object), change);
    resume?.();
  });
  const unfollow = records?.feed.subscribe(({ kind, seenBy }) => {
    if (!records.kinds.has(kind)) return;
    for (const question of seenBy) if (heard.size < maxGathered) heard.set(JSON.stringify(question), question);
    resume?.();
  });
  left.addEventListener('abort', () => resume?.());
  let isAll = false;
  const onAll = () => {
    isAll = true;
    resume?.();
  };
  announcing.add(onAll);
  const endAt = performance.now() + lifeMs;
  count(1);
  try {
    yield `retry: ${retryMs}\n${opened}`;
    while (performance.now() < endAt && !left.aborted) {
      const isIdle = () => gathered.size === 0 && heard.size === 0 && !isAll;
      if (isIdle()) await pause(keepAliveMs, (resolve) => (resume = resolve));
      if (isIdle()) {
        yield ': nothing new\n\n';
        continue;
      }
      await pause(gatherMs);
      const changes = [...gathered.values()];
      gathered.clear();
      const questions = [...heard.values()];
      heard.clear();
      // The number of namespaces is limited, because each costs a request to the API server.
      const isCut = isAll || changes.length >= maxGathered || new Set(changes.map(({ object }) => object.namespace)).size > maxNamespaces;
      isAll = false;
      const found = isCut ? opened : await textOf(changes, view, access, isBrief);
      const isSaid = isCut || (isBrief && found !== '');
      const text = !isSaid && (await mayAny(access, questions)) ? `${found}${changed}` : found;
      if (text !== '') yield text;
      if (isBrief && text !== '') await pause(Math.max(briefMs, open() * briefMsOfStream) - gatherMs);
    }
  } finally {
    unsubscribe();
    unfollow?.();
    announcing.delete(onAll);
    count(-1);
  }
}

const opened = 'event: open\ndata: {}\n\n';
const changed = 'event: changed\ndata: {}\n\n';

/** Whether the caller has one of the permissions. As many are asked for as a change of policies may need. */
async function mayAny(access: Access, questions: readonly Question[]): Promise<boolean> {
  for (const question of questions.slice(0, maxNamespaces)) if (await access.may(question)) return true;
  return false;
}

/** The text about those of the changes that the caller may get; empty if there are none. */
async function textOf<T extends Named>(
  changes: readonly StreamChange<T>[],
  view: StreamView<T>,
  access: Access,
  isBrief: boolean,
): Promise<string> {
  const { resource } = view;
  const rights = new Map<string, boolean>();
  let text = '';
  for (const change of changes) {
    const { namespace } = change.object;
    const isPermitted = rights.get(namespace) ?? (await access.may({ verb: 'get', ...defined({ resource }), namespace }));
    rights.set(namespace, isPermitted);
    if (!isPermitted) continue;
    if (isBrief) return changed;
    text += frameOf(change, view);
  }
  return text;
}

/** Whether lists show nothing of a change: compared once for all streams. */
const quiet = new WeakMap<StreamChange<Named>, boolean>();

function isQuiet<T extends Named>(change: StreamChange<T>, view: StreamView<T>): boolean {
  const known = quiet.get(change) ?? (change.type === 'updated' && view.isQuiet?.(change.object, change.previous) === true);
  quiet.set(change, known);
  return known;
}

/** The frames of changes: written once for all streams, which are passed the same changes. */
const frames = new WeakMap<StreamChange<Named>, string>();

function frameOf<T extends Named>(change: StreamChange<T>, { event, show }: StreamView<T>): string {
  const { type, object } = change;
  const { namespace, name } = object;
  const known = frames.get(change);
  const frame = known ?? (type === 'deleted' ? writeFrame('deleted', { namespace, name }) : writeFrame(event, show(object)));
  frames.set(change, frame);
  return frame;
}

function writeFrame(event: string, data: object): string {
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
