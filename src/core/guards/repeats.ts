import type { HistoryEntry } from '../policy-status.ts';
import { toSeconds } from '../status-text.ts';
import { formatWorkload } from '../workload.ts';
import type { Guard } from './guard.ts';
import { isOf } from './last-change.ts';

const hourMs = 3_600_000;

/**
 * The same image again and again means that something changes it back each time, such as another policy: it is slowed down, so that no workload
 * restarts for ever. New images are no loop, however many there are.
 */
export const repeats: Guard = {
  id: 'repeats',
  bindsRollback: false,
  judge({ target, changes }, { policy, candidate, now, repeatsPerHour }) {
    const isRepeat = (entry: HistoryEntry) =>
      entry.tag === candidate.tag && (candidate.digest === undefined || entry.digest === undefined || entry.digest === candidate.digest);
    const times = changes.map(({ container }) =>
      (policy.status?.history ?? [])
        .filter((entry) => isOf(entry, target, container) && isRepeat(entry))
        .map(({ at }) => Date.parse(at))
        .filter((at) => at > now.getTime() - hourMs),
    );
    // The latest first: when the last that counts leaves the hour, there is room again.
    const until = times.flatMap((latest) => latest[repeatsPerHour - 1] ?? []).map((at) => new Date(at + hourMs));
    const [first] = until.toSorted((a, b) => b.getTime() - a.getTime());
    if (first === undefined) return undefined;
    const message =
      `${formatWorkload(target)} was changed to ${candidate.tag} ${repeatsPerHour} times within an hour, and something changes it back: ` +
      `see who else does (another ImagePolicy?). Changed again at ${toSeconds(first)}`;
    return { kind: 'waits', reason: 'TooManyChanges', message, until: first };
  },
};
