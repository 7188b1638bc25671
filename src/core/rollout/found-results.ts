/** What a status says of the changes of pushes, whose records may lack it: whoever wrote the status may have died before the record, or have lost Redis. */
import { isSameWhole, wholeDigest } from '../model/companions.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { listFew } from '../model/text.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { formatWorkload } from '../model/workload.ts';
import { listImages } from '../plan/changed-images.ts';
import { newestOf } from './current-rollouts.ts';
import { hasFailed } from './decide-rollouts.ts';
import { describeReplaced } from './replaced-change.ts';

/** The result of some changes. */
export interface FoundResult {
  readonly entries: readonly HistoryEntry[];
  readonly kind: 'updated' | 'stalled';
  readonly reason: 'RolledOut' | 'RolloutFailed' | 'RolledBack' | 'Superseded';
  readonly stage: 'rollout' | 'replaced';
  readonly message: string;
}

/**
 * The results of the changes in the history: of those to one image together, the ones that containers still have apart from the ones that were replaced since. An image is
 * out only once no rollout or wave of it is still to come.
 */
export function foundResults(status: PolicyStatus): readonly FoundResult[] {
  const { history = [] } = status;
  const newest = new Set(newestOf(history));
  const changes = history.filter(({ trigger }) => trigger !== 'Rollback');
  const groups = Map.groupBy(changes, (entry) => `${newest.has(entry)} ${entry.tag} ${wholeDigest(entry)}`);
  const out = [...groups.values()].flatMap((entries): FoundResult[] => {
    const [first] = entries;
    if (first === undefined || entries.some(({ result }) => result !== 'RolledOut')) return [];
    if (hasFailed(status, first) || (newest.has(first) && goesOn(status, first))) return [];
    const workloads = [...new Set(entries.map(formatWorkload))];
    const message = `${listImages(entries)} is out on ${listFew(workloads, (workload) => workload)}`;
    return [{ entries, kind: 'updated', reason: 'RolledOut', stage: 'rollout', message }];
  });
  return [...out, ...changes.flatMap(failureOf), ...changes.flatMap((entry) => replacementOf(entry, history))];
}

/** Whether a rollout or a wave of the image of a change may still come. */
function goesOn({ history: [last] = [], rollouts, waiting, conditions = [] }: PolicyStatus, { tag, ...image }: HistoryEntry): boolean {
  const isLast = last?.tag === tag && isSameWhole(last, image);
  // The next wave of a policy with waves may come when it is resumed.
  const isSuspended = rollouts?.lastDoneAt !== undefined && conditions.some(({ reason }) => reason === 'Suspended');
  return isLast && ((rollouts?.progressing ?? 0) > 0 || isWaveWait(waiting) || isSuspended);
}

function failureOf(entry: HistoryEntry): FoundResult[] {
  const { result, failure } = entry;
  if (failure === undefined || (result !== 'Failed' && result !== 'RolledBack')) return [];
  const [workload, images] = [formatWorkload(entry), listImages([entry])];
  return [
    result === 'Failed'
      ? {
          entries: [entry],
          kind: 'stalled',
          reason: 'RolloutFailed',
          stage: 'rollout',
          message: `${workload}: the rollout of ${images} failed: ${failure.message}`,
        }
      : {
          entries: [entry],
          kind: 'stalled',
          reason: 'RolledBack',
          stage: 'rollout',
          message: `${workload}: ${images} was rolled back: ${failure.message}`,
        },
  ];
}

function replacementOf(entry: HistoryEntry, history: readonly HistoryEntry[]): FoundResult[] {
  const message = entry.result === 'Applied' ? describeReplaced(entry, history) : undefined;
  return message === undefined ? [] : [{ entries: [entry], kind: 'updated', reason: 'Superseded', stage: 'replaced', message }];
}
