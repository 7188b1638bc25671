/** Says what changes in Redis without a change of a policy: pushes, actions, and the answers of receivers. It is looked up only while somebody follows it. */
import { repeat, type Repetition } from '../../core/async/repeat.ts';
import type { Activity } from '../../core/model/activity.ts';
import type { EventRecord } from '../queue/event-record.ts';
import type { Question } from './access.ts';
import { visibleNamespaces } from './event-view.ts';

/** refusals: the deliveries that a receiver refused. */
export const recordKinds = ['pushes', 'activity', 'deliveries', 'refusals'] as const;
export type RecordKind = (typeof recordKinds)[number];

/** Something has changed. A caller who has one of the permissions may learn of it. */
export interface RecordChange {
  readonly kind: RecordKind;
  readonly seenBy: readonly Question[];
}

export interface RecordFeed {
  /** Adds a listener; returns the function that removes it. */
  subscribe(listener: (change: RecordChange) => void): () => void;
}

/** What is in Redis. Each rejects while Redis does not answer, and then returns later what has changed meanwhile. */
export interface RecordSource {
  /** The plural name of BaseImagePolicies, for permissions. */
  readonly basePlural: string;
  /** The pushes that are new, or have changed, since the last call; of many, the newest. */
  readonly changedEvents: () => Promise<readonly EventRecord[]>;
  /** The activities that were recorded since the last call. */
  readonly newActivities: () => Promise<readonly Activity[]>;
  /** When each receiver last answered with each status, in ms since 1970. */
  readonly deliveries: () => Promise<ReadonlyMap<string, ReadonlyMap<number, number>>>;
}

const everyMs = 2_000;

/** Creates a feed without listeners. */
export function createRecordFeed(source: RecordSource, pauseMs = everyMs): RecordFeed {
  const listeners = new Set<(change: RecordChange) => void>();
  const last = new Map<RecordKind, string>();
  let looking: Repetition | undefined;
  const publish = (kind: RecordKind, seenBy: readonly Question[]) => {
    for (const listener of listeners) listener({ kind, seenBy });
  };
  const compare = (kind: RecordKind, state: unknown) => {
    const now = JSON.stringify(state);
    if (last.get(kind) !== now) publish(kind, [all]);
    last.set(kind, now);
  };
  const look = async () => {
    const [events, activities, deliveries] = await Promise.allSettled([
      source.changedEvents(),
      source.newActivities(),
      source.deliveries(),
    ]);
    for (const event of settled(events)) publish('pushes', viewersOfEvent(event));
    for (const activity of settled(activities)) publish('activity', viewersOf(activity, source.basePlural));
    if (deliveries.status === 'rejected') return;
    const times = [...deliveries.value].map(([name, statuses]) => [name, [...statuses]] as const);
    compare('deliveries', times);
    compare(
      'refusals',
      times.map(([name, statuses]) => [name, statuses.filter(([status]) => status >= 400)]),
    );
  };
  return {
    subscribe(listener) {
      listeners.add(listener);
      // Nothing is forgotten while nobody listens: who comes next is sent all that has changed since.
      looking ??= repeat(look, { everyMs: pauseMs, backoffMs: () => pauseMs, onProblem: () => undefined });
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        void looking?.stop();
        looking = undefined;
      };
    },
  };
}

function settled<T>(result: PromiseSettledResult<readonly T[]>): readonly T[] {
  return result.status === 'fulfilled' ? result.value : [];
}

const all: Question = { verb: 'list' };

/** The permissions of which each lets a caller see a push. */
function viewersOfEvent(event: EventRecord): Question[] {
  return [all, ...visibleNamespaces(event).map((namespace): Question => ({ verb: 'get', namespace }))];
}

/** The permissions of which each lets a caller see an activity: those of objects that he may get. What belongs to no namespace is shown to those who may list all policies. */
export function viewersOf({ subject: { kind, namespace } }: Activity, basePlural: string): Question[] {
  const resource = kind === 'BaseImagePolicy' ? { resource: basePlural } : {};
  return [{ verb: 'list', ...resource }, ...(namespace === undefined ? [] : [{ verb: 'get', namespace, ...resource } as const])];
}
