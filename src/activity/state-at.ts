/** What the state of each policy was at a time, by the record of what happened before it. Pure. */
import { defined } from '../core/model/defined.ts';
import { isSameJson } from '../core/model/untyped.ts';
import type { NoticeKind } from '../core/model/notice.ts';
import type { ActivityEntry } from '../service/api/activity-view.ts';

/** The state of a policy at a time. */
export interface StateThen {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** The image that the service had set last, and since when; absent if the record has no change of an image. */
  readonly image?: { readonly tag?: string; readonly digest?: string; readonly base?: string; readonly since: string };
  readonly workloads?: readonly string[];
  /** The last that happened to it. */
  readonly last: {
    readonly kind: NoticeKind;
    readonly at: string;
    readonly tag?: string;
    readonly reason?: string;
    readonly message?: string;
  };
  readonly suspended?: true;
}

/** The kinds of changes after which the image of the change runs, or is about to. */
const setsImage = new Set<NoticeKind>(['Updated', 'RolledOut', 'RolloutFailed', 'RolledBack']);

/** Collects entries, in the order of the record, and answers the states at a time, in ms since 1970. */
export function collectStates(at: number): { add(entry: ActivityEntry): void; states(): StateThen[] } {
  const states = new Map<string, StateThen>();
  const suspended = new Set<string>();
  return {
    add(entry) {
      if (entry.type === 'push' || Date.parse(entry.at) > at) return;
      const { kind: of, namespace, name } = entry.subject;
      const key = JSON.stringify([of, namespace, name]);
      if (entry.type === 'action') {
        if (entry.action === 'suspend') suspended.add(key);
        if (entry.action === 'resume') suspended.delete(key);
        return;
      }
      if (of !== 'ImagePolicy' && of !== 'BaseImagePolicy') return;
      const before = states.get(key);
      const { kind, tag, digest, base, reason, message, workloads } = entry;
      const sets = setsImage.has(kind);
      const image = sets ? sinceThen({ ...defined({ tag, digest, base }), since: entry.at }, before?.image) : before?.image;
      states.set(key, {
        kind: of,
        ...defined({ namespace }),
        name,
        ...defined({ image, workloads: sets ? workloads : before?.workloads }),
        last: { kind, at: entry.at, ...defined({ tag, reason, message }) },
      });
    },
    states: () =>
      [...states]
        .map(([key, state]) => (suspended.has(key) ? { ...state, suspended: true as const } : state))
        .sort(
          (a, b) => (a.namespace ?? '').localeCompare(b.namespace ?? '') || a.name.localeCompare(b.name) || a.kind.localeCompare(b.kind),
        ),
  };
}

/** The image since it was set: its rollout ends later. */
function sinceThen(image: NonNullable<StateThen['image']>, before: StateThen['image']): NonNullable<StateThen['image']> {
  const { since, ...same } = image;
  return { ...same, since: before !== undefined && isSameJson({ ...same, since: before.since }, before) ? before.since : since };
}
