/**
 * Evaluates the rollout of a change together with the checks of its image (`rollout.checks` of the phases `during` and `after`): a rollout is complete when its
 * checks have passed as well, and a bad verdict is a failed rollout. So waves, rollbacks and rejections need to know nothing of checks.
 */
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { CheckRecord } from '../model/check-record.ts';
import { lastUpdateOf } from '../model/last-update.ts';
import type { HistoryEntry } from '../model/policy-status.ts';
import { isOfImage, type CheckSettings } from '../model/rollout-check.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { listFew } from '../model/text.ts';
import { formatWorkload, type Workload } from '../model/workload.ts';
import { beginChecks, checksOf, describeRecord, findRecord } from '../plan/check-records.ts';
import { followedWorkloads, isOpen, isRecorded, type Rollout } from './current-rollouts.ts';
import { evaluateWorkload, type RestartView } from './evaluate-restarts.ts';
import type { RolloutEvaluation, RolloutTime } from './evaluate-rollout.ts';

/** A workload, with the newest changes of its containers. */
type Changed = Pick<Rollout, 'workload' | 'entries'>;

/** Evaluates the rollout of a change, its checks included. */
export function evaluateChange(policy: ImagePolicy, changed: Changed, time: RolloutTime, view: RestartView): RolloutEvaluation {
  return withVerdicts(evaluateWorkload(changed.workload, time, view), policy, changed, view.at);
}

function withVerdicts(evaluation: RolloutEvaluation, policy: ImagePolicy, { workload, entries }: Changed, now: Date): RolloutEvaluation {
  const { spec } = policy;
  const checks = isUsable(spec) ? checksOf(spec, 'during', 'after') : [];
  if (checks.length === 0 || evaluation.kind === 'failed') return evaluation;
  const found = entries
    .filter(isChecked)
    .flatMap((entry) => checks.map((check) => ({ check, record: recordOf(policy, check, entry, now) })));
  const bad = found.find(({ record }) => record?.state === 'Failed') ?? found.find(({ record }) => record?.state === 'TimedOut');
  const name = formatWorkload(workload);
  if (bad?.record !== undefined) {
    const message = `${name}: ${describeRecord(bad.record)}`;
    return bad.record.state === 'Failed'
      ? { kind: 'failed', reason: 'CheckFailed', against: 'image', message }
      : { kind: 'failed', reason: 'CheckTimedOut', against: 'unknown', message };
  }
  const open = found.filter(({ record }) => record?.state !== 'Passed');
  if (open.length === 0 || evaluation.kind === 'progressing') return evaluation;
  return { kind: 'progressing', message: `${name}: waits for ${listFew(open, ({ check }) => `the check ${check.name}`)}` };
}

/** Whether a change waits for the verdicts of checks: it has no result yet, or a failure that may still change. A rollback has none. */
function isChecked(entry: HistoryEntry): boolean {
  return entry.trigger !== 'Rollback' && isOpen(entry);
}

/** The record that counts for a change. That there was no answer in time says nothing about a later try of the image. */
function recordOf(policy: ImagePolicy, check: CheckSettings, entry: HistoryEntry, now: Date): CheckRecord | undefined {
  const record = findRecord(policy, check, entry, now);
  return record?.state === 'TimedOut' && Date.parse(entry.at) > Date.parse(record.startedAt) ? undefined : record;
}

/** Whether the rollout of an image is under way on a workload, by what the caches show; checks left aside. One that is known to have failed may stay so for days. */
export function isUnderWay(policy: ImagePolicy, image: CheckRecord, snapshot: TargetSnapshot): boolean {
  return rolloutsOf(policy, snapshot).some(({ entry, isOver }) => !isOver && entry.result !== 'Failed' && isOfImage(image, entry));
}

/** The policy's status in which the checks of what rolls out have begun, as far as their phase has come; the same object if nothing is to be begun. */
export function withBegunChecks(policy: ImagePolicy, snapshot: TargetSnapshot): ImagePolicy['status'] {
  const { spec } = policy;
  if (!isUsable(spec) || checksOf(spec, 'during', 'after').length === 0) return policy.status;
  const rollouts = rolloutsOf(policy, snapshot);
  const images = new Map(rollouts.map(({ entry }) => [`${entry.tag}@${entry.digest ?? ''}`, entry]));
  return [...images.values()].reduce((status, image) => {
    const own = rollouts.filter(({ entry }) => entry.tag === image.tag && entry.digest === image.digest);
    const due = own.every(({ isOver }) => isOver) ? checksOf(spec, 'during', 'after') : checksOf(spec, 'during');
    const missing = due.filter((check) =>
      own.some(({ entry }) => recordOf({ ...policy, status }, check, entry, snapshot.at) === undefined),
    );
    return beginChecks(withoutTimedOut(status, missing, image), policy, { checks: missing, image, now: snapshot.at });
  }, policy.status);
}

/** The status without the records of checks that do not count for a new try of the image. */
function withoutTimedOut(status: ImagePolicy['status'], missing: readonly CheckSettings[], image: HistoryEntry): ImagePolicy['status'] {
  const isLeft = (record: CheckRecord) =>
    !missing.some(({ name }) => name === record.name && record.state === 'TimedOut' && isOfImage(record, image));
  const { checks } = status;
  return checks === undefined || checks.every(isLeft) ? status : { ...status, checks: checks.filter(isLeft) };
}

/**
 * Whether the digest of a change is known from the workload alone, whose annotation may be anybody's, until the reconcile that made the change records it. A
 * check that began without the digest would speak for each image that the tag ever names.
 */
function isUnnamed({ status }: ImagePolicy, workload: Workload, entry: HistoryEntry): boolean {
  return entry.digest === undefined && !isRecorded(status, entry) && lastUpdateOf(workload, entry.container)?.digest !== undefined;
}

/** The changes that wait for a verdict, and whether their rollout itself is over. */
function rolloutsOf(policy: ImagePolicy, snapshot: TargetSnapshot): { readonly entry: HistoryEntry; readonly isOver: boolean }[] {
  const { spec } = policy;
  const timeoutMs = (isUsable(spec) ? spec.rollout?.timeoutMs : undefined) ?? 0;
  return followedWorkloads(policy, snapshot).flatMap(({ workload, entries }) =>
    entries
      .filter((entry) => isChecked(entry) && !isUnnamed(policy, workload, entry))
      .map((entry) => {
        const { kind } = evaluateWorkload(workload, { since: new Date(entry.at), timeoutMs }, snapshot);
        return { entry, isOver: kind === 'done' || kind === 'notWatched' };
      }),
  );
}
