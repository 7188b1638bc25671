import type { Candidate } from '../../model/image-reference.ts';
import { changesOf, isRecent, lastUpdateOf, recentMs } from '../../model/last-update.ts';
import { toSeconds } from '../../model/text.ts';
import { formatWorkload } from '../../model/workload.ts';
import type { Guard } from './guard.ts';
import { isOf } from './last-change.ts';

/**
 * Limits the rate of changes to the same image, which mean that something reverts it each time, such as another policy. So no container restarts endlessly. New
 * images are not a loop, however many there are. The workload's annotations count the changes to each container by any policy; if somebody removes them, the
 * policy's history is used, as far as it goes.
 */
export const repeats: Guard = {
  id: 'repeats',
  bindsRollback: false,
  check({ target, workload, changes }, { policy, candidate, now, repeatsPerHour }) {
    const isSame = ({ tag, digest }: Candidate) =>
      tag === candidate.tag && (candidate.digest === undefined || digest === undefined || digest === candidate.digest);
    const history = (policy.status?.history ?? []).filter(isSame);
    const loops = changes.flatMap(({ container }) => {
      const remembered = changesOf(workload && lastUpdateOf(workload, container)).filter(isSame);
      const recorded = history.filter((entry) => isOf(entry, target, container));
      const times = [remembered.flatMap(({ at }) => at.filter((time) => isRecent(time, now))), recorded.map(({ at }) => at)];
      const until = times.flatMap((known) => roomAt(known, now, repeatsPerHour));
      return until.length === 0 ? [] : [{ container, until: Math.max(...until) }];
    });
    if (loops.length === 0) return undefined;
    const until = new Date(Math.min(...loops.map((loop) => loop.until)));
    const containers = loops.map(({ container }) => container);
    const message =
      `${containers.join(' and ')} of ${formatWorkload(target)} was changed to ${candidate.tag} ${repeatsPerHour} times within an hour, and something ` +
      `changes it back: see who else does (another ImagePolicy?). Changed again at ${toSeconds(until)}`;
    return { kind: 'waits', reason: 'TooManyChanges', message, containers, until };
  },
};

/** When one more change to the candidate is allowed: as soon as enough of the counted ones are over an hour old. Undefined if one is allowed now. */
function roomAt(changedAt: readonly string[], now: Date, repeatsPerHour: number): number[] {
  const times = changedAt.map((time) => Date.parse(time)).filter((at) => at > now.getTime() - recentMs);
  const last = times.toSorted((a, b) => b - a)[repeatsPerHour - 1];
  return last === undefined ? [] : [last + recentMs];
}
