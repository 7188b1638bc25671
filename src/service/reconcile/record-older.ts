/** Records what became of the image of an earlier push which another cause than that push has decided: without it, whoever waits for the push would not learn of it. */
import { defined } from '../../core/model/defined.ts';
import { isHeldBack } from '../../core/model/guard-reasons.ts';
import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';
import { awaitedPushes, selectingPush, wavesPush } from '../../core/model/is-triggered.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import type { ReconcileCause } from '../../core/status/next-status.ts';
import { isOlderThanSelected } from '../../core/status/is-older.ts';
import { isOtherSelected } from '../../core/status/is-outdated.ts';
import { insteadOf, leftChanges, replacedChanges } from '../../core/status/superseded.ts';
import { resultOf } from './record-result.ts';
import { recordChanges, type ChangesOwner, type RecordPorts } from './record-changes.ts';

/** A reconcile whose status was written. */
interface Reported {
  readonly written: PolicyStatus | undefined;
  readonly cause: ReconcileCause;
  readonly outcome: Outcome;
}

/** Records what the write of a status means for images that were rolling out, or had to wait, before it. */
export async function recordOlder(owner: ChangesOwner, { written, cause, outcome }: Reported, ports: RecordPorts): Promise<void> {
  const { policy, before } = owner;
  const at = new Date(ports.cluster.now()).toISOString();
  const overtaken = overtakenBy({ ...policy, status: written ?? before }, outcome);
  if (overtaken !== undefined && cause.eventId !== undefined) {
    const result = { kind: 'ignored', reason: 'Superseded', message: overtaken, ...imageOf(outcome), at } as const;
    await ports.report.eventLog.recordResult(cause.eventId, policyKey(policy), result);
  }
  if (written === undefined) return;
  if (isUsable(policy.spec) && policy.spec.rollout !== undefined)
    for (const [message, replaced] of Map.groupBy(
      [...replacedChanges(before, written), ...leftChanges(before, written)],
      (one) => one.message,
    )) {
      const entries = replaced.map(({ entry }) => entry);
      await recordChanges(owner, entries, { kind: 'updated', reason: 'Superseded', message, stage: 'replaced', at }, ports);
    }
  for (const { image, event, isInWaves } of awaitedPushes(before)) {
    if (event === cause.eventId) continue;
    const instead = insteadOf(image, before, written);
    const result =
      instead === undefined
        ? isNews(outcome, image, { before, written, cause }) && resultOf(outcome)
        : ({ ...endOf(isInWaves), reason: 'Superseded', message: instead } as const);
    if (result !== false) await ports.report.eventLog.recordResult(event, policyKey(policy), { ...result, ...image, at });
  }
}

/** Why the image of an outcome waits no more, although the outcome says so: a newer one was reported before it. Undefined if none was. */
function overtakenBy(policy: ImagePolicy, outcome: Outcome): string | undefined {
  const { status } = policy;
  const { tag } = outcome;
  if (tag === undefined || !isHeldBack(outcome)) return undefined;
  const isOvertaken = isOlderThanSelected(policy, tag) || isOtherSelected(status, outcome);
  return isOvertaken ? insteadOf({ tag, ...imageOf(outcome) }, status, status) : undefined;
}

function imageOf({ tag, digest }: Outcome) {
  return defined({ tag, digest });
}

/** Whether the outcome says something new of the image that waits. Its changes are recorded with its push by their own records on the workloads. */
function isNews(
  { kind, changes, tag, digest, retryAt }: Outcome,
  waiting: { readonly tag: string; readonly digest?: string },
  { before, written, cause }: { readonly before: PolicyStatus; readonly written: PolicyStatus; readonly cause: ReconcileCause },
): boolean {
  if (kind === 'ignored' || changes !== undefined || retryAt !== undefined || statesIn(before) === statesIn(written)) return false;
  if (tag === undefined) return cause.isHinted !== true;
  return tag === waiting.tag && (digest === undefined || waiting.digest === undefined || digest === waiting.digest);
}

function statesIn({ conditions = [] }: PolicyStatus): string {
  return conditions
    .map(({ type, status, reason }) => `${type}=${status} ${reason}`)
    .toSorted()
    .join();
}

/**
 * The push that has brought the same image before, such as another receiver's: what becomes of the image is recorded with that one. Undefined if the outcome is
 * that of its own push, or if no other is known.
 */
export function broughtBy({ uid, status }: ImagePolicy, outcome: Outcome, { eventId, pushed }: ReconcileCause): string | undefined {
  const { kind, changes, tag, digest, ours = [] } = outcome;
  // The push has begun the next wave of an image that another one has brought.
  const ofWaves = changes === undefined || tag === undefined ? undefined : wavesPush(status, { tag, ...defined({ digest }) });
  if (ofWaves !== undefined && eventId !== undefined && ofWaves !== eventId) return ofWaves;
  if (eventId === undefined || changes !== undefined || tag === undefined || (kind !== 'unchanged' && kind !== 'waiting')) return undefined;
  // The tag has other content than what the other push has brought.
  if (outcome.reason === 'Retagged') return undefined;
  // What is said of the image that it has to wait behind is not said of its own.
  if (pushed !== undefined && pushed.tag !== tag) return undefined;
  const applied = ours.find(({ update }) => update?.policy === uid && update.event !== undefined)?.update?.event;
  const event = applied ?? selectingPush(status, { tag, ...defined({ digest }) }, undefined);
  return event === eventId ? undefined : event;
}

/** How the wait of an image ends that is given up. What was changed in waves before, and is out there, is not all of it. */
function endOf(isInWaves: boolean) {
  return isInWaves ? ({ kind: 'updated', stage: 'waves' } as const) : ({ kind: 'ignored' } as const);
}

/** Records with the pushes whose images wait, or roll out, that their policy is deleted. */
export async function recordDeleted(policy: ImagePolicy, ports: RecordPorts): Promise<void> {
  const { status } = policy;
  const at = new Date(ports.cluster.now()).toISOString();
  const message = `${policyKey(policy)} was deleted`;
  for (const { image, event, isInWaves } of awaitedPushes(status)) {
    const result = { ...endOf(isInWaves), reason: 'PolicyGone', message, ...image, at } as const;
    await ports.report.eventLog.recordResult(event, policyKey(policy), result);
  }
  if (!isUsable(policy.spec) || policy.spec.rollout === undefined) return;
  const open = (status.history ?? []).filter(({ result }) => result === 'Applied');
  const gone = {
    kind: 'updated',
    reason: 'PolicyGone',
    message: `${message} before the rollout was complete`,
    stage: 'replaced',
    at,
  } as const;
  await recordChanges({ policy, before: status }, open, gone, ports);
}
