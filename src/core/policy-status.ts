import type { Condition, ImagePolicy, PolicyStatus } from './image-policy.ts';
import type { Outcome } from './outcome.ts';
import type { Reason } from './reasons.ts';

/** What happens to a policy while it waits for another try. */
export interface Postponement {
  readonly kind: 'postponed';
  readonly reason: Reason;
  readonly message: string;
}

/** The registry was asked a moment ago: not worth a write of its own. */
const checkedTimeStepMs = 60_000;
const maxMessageLength = 1024;

/**
 * The status after an outcome (kstatus: Ready always; Reconciling and Stalled only while they are true), or undefined when there is
 * nothing to write. Conditions of other writers stay as they are.
 */
export function nextStatus(
  policy: Pick<ImagePolicy, 'generation' | 'status'>,
  outcome: Outcome | Postponement,
  now: Date,
): PolicyStatus | undefined {
  const isOverdue = (policy.status.observedGeneration ?? 0) > policy.generation;
  if (outcome.kind === 'ignored' || isOverdue) return undefined;
  const conditions = nextConditions(policy, outcome, now);
  const appliedTag = 'appliedTag' in outcome ? outcome.appliedTag : undefined;
  const asked = outcome.kind === 'updated' || outcome.kind === 'unchanged';
  const next: PolicyStatus = {
    ...policy.status,
    observedGeneration: policy.generation,
    conditions,
    ...(appliedTag !== undefined && { lastAppliedTag: appliedTag }),
    ...(asked && { lastCheckedTime: toSeconds(now) }),
  };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

function nextConditions(policy: Pick<ImagePolicy, 'generation' | 'status'>, outcome: Outcome | Postponement, now: Date): Condition[] {
  const old = policy.status.conditions ?? [];
  const set = (type: string, status: Condition['status'], reason: string, message: string): Condition => {
    const previous = old.find((condition) => condition.type === type);
    const lastTransitionTime = previous?.status === status ? previous.lastTransitionTime : toSeconds(now);
    return { type, status, reason, message: cut(message), lastTransitionTime, observedGeneration: policy.generation };
  };
  const others = old.filter((condition) => !['Ready', 'Reconciling', 'Stalled'].includes(condition.type));
  switch (outcome.kind) {
    case 'updated':
    case 'unchanged':
      return [set('Ready', 'True', 'UpToDate', outcome.running ?? outcome.message), ...others];
    case 'stalled':
      return [set('Ready', 'False', outcome.reason, outcome.message), set('Stalled', 'True', outcome.reason, outcome.message), ...others];
    case 'postponed':
      return [
        set('Ready', 'False', outcome.reason, outcome.message),
        set('Reconciling', 'True', outcome.reason, outcome.message),
        ...others,
      ];
    case 'ignored':
      return [...old];
  }
}

function isWorthWriting(old: PolicyStatus, next: PolicyStatus, now: Date): boolean {
  const { lastCheckedTime: oldTime, ...oldRest } = old;
  const { lastCheckedTime: nextTime, ...nextRest } = next;
  if (JSON.stringify(canonical(oldRest)) !== JSON.stringify(canonical(nextRest))) return true;
  if (nextTime === oldTime) return false;
  // Written this way round, a time that cannot be read is as good as none.
  const isRecent = oldTime !== undefined && now.getTime() - Date.parse(oldTime) < checkedTimeStepMs;
  return !isRecent;
}

/** The same fields in the same order, whichever way the object came to be. */
function canonical(status: PolicyStatus): unknown {
  const conditions = (status.conditions ?? [])
    .map(({ type, status: value, reason, message, lastTransitionTime, observedGeneration }) => [
      type,
      value,
      reason,
      message,
      lastTransitionTime,
      observedGeneration,
    ])
    .sort((a, b) => String(a[0]).localeCompare(String(b[0])));
  return [status.observedGeneration, status.lastAppliedTag, conditions];
}

/** metav1.Time has seconds. */
function toSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function cut(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`;
}
