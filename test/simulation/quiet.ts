/** Whether anything goes on: when faults end, everything comes to an end within the longest pause of a job. */
import { fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import { describe } from './invariants-of-changes.ts';
import type { Invariant } from './invariants.ts';
import type { World } from './world.ts';

/** The longest pause of a job that has failed several times. */
export const longestPeaceMs = 330_000;
const quietMs = 10_000;
/** Two waves, and what they wait for: the run goes on until no image has changed for so long. */
const leastQuietMs = 30_000;

/** Whether nothing happens, or is about to happen soon. */
export function isQuiet({ clock, history, patches, queue }: World): boolean {
  if (clock.now() - history.lastChangeAt() < quietMs) return false;
  if (clock.now() - (patches.all.at(-1)?.at ?? 0) <= leastQuietMs) return false;
  const { push, policy, check, base } = queue.stores;
  return [push, policy, check, base].every(
    (store) => store.list('waiting').length + store.list('active').length === 0 && !store.list('delayed').some(isDueSoon),
  );
}

/** Jobs that wait for hours are no sign of unrest. */
function isDueSoon({ data }: { readonly data: unknown }): boolean {
  const { notBefore, wait } = fieldsOf(data);
  const at = Date.parse(textOrEmpty(notBefore) || textOrEmpty(fieldsOf(wait)['at']));
  return Number.isNaN(at) || at < Date.now() + longestPeaceMs;
}

export const becomesQuiet: Invariant = {
  name: 'everything becomes quiet',
  promise: 'When faults end, no image changes any more, and no job is tried again because of a failure.',
  atEnd({ clock, patches, queue: { stores } }) {
    const late = patches.all.filter(({ at }) => at > clock.now() - leastQuietMs).map(describe);
    // A rollout that makes no progress, such as that of a paused Deployment, is looked at until it times out.
    const isRollout = ({ data }: { readonly data: unknown }) => fieldsOf(data)['task'] === 'rollout';
    const waiting = (['push', 'policy', 'check', 'base'] as const).flatMap((queue) =>
      stores[queue]
        .list('delayed')
        .filter((job) => job.attemptsMade > 0 && isDueSoon(job) && !isRollout(job))
        .map(({ id, attemptsMade }) => `${queue} ${id.slice(0, 8)} waits after ${attemptsMade} failures`),
    );
    return [...late, ...waiting];
  },
};
