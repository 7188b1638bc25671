import type { Blocked } from '../plan/plan-update.ts';
import type { Condition } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { cut } from '../model/status-text.ts';

type BlockedCondition = Pick<Condition, 'type' | 'status' | 'message'> & { readonly reason: Reason };

const maxMessageLength = 1024;

/** The types of the conditions that say what is blocked; each is present only while something is. */
export const blockedTypes: readonly string[] = ['Held', 'ApprovalRequired'];
const holds: ReadonlySet<string> = new Set<Reason>(['Held', 'RejectedDigest', 'TargetPaused']);

/** Whether guards set this condition: the same type may also be set for other reasons. */
export function isBlocked({ type, reason }: Pick<Condition, 'type' | 'reason'>): boolean {
  return type === 'ApprovalRequired' || (type === 'Held' && holds.has(reason));
}

/** One condition of each type, covering what is blocked across all targets. */
export function blockedConditions(blocked: readonly Blocked[]): BlockedCondition[] {
  const held = conditionOf(
    'Held',
    blocked.filter(({ reason }) => holds.has(reason)),
  );
  const approvals = conditionOf(
    'ApprovalRequired',
    blocked.filter(({ reason }) => reason === 'ApprovalRequired'),
  );
  return [...held, ...approvals];
}

/** One sentence for all targets, the first reason first; undefined where nothing is blocked. At most as long as a condition message may be. */
export function describeBlocked(blocked: readonly Blocked[]): { readonly reason: Reason; readonly message: string } | undefined {
  const [first] = blocked;
  if (first === undefined) return undefined;
  const messages = new Set(blocked.map(({ message }) => message));
  return { reason: first.reason, message: cut([...messages].join('; '), maxMessageLength) };
}

function conditionOf(type: string, blocked: readonly Blocked[]): BlockedCondition[] {
  const found = describeBlocked(blocked);
  return found === undefined ? [] : [{ type, status: 'True', ...found }];
}
