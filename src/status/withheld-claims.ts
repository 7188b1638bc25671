import type { Withheld } from '../plan/plan-update.ts';
import type { Condition } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { cut } from '../model/status-text.ts';

type WithheldClaim = Pick<Condition, 'type' | 'status' | 'message'> & { readonly reason: Reason };

const maxMessageLength = 1024;

/** Conditions that say what is withheld, while it is so. */
export const withheldTypes: readonly string[] = ['Held', 'ApprovalRequired'];
const holds: ReadonlySet<string> = new Set<Reason>(['Held', 'RejectedDigest', 'TargetPaused']);

/** Whether a condition says what guards withhold: others hold for other reasons. */
export function isWithheld({ type, reason }: Pick<Condition, 'type' | 'reason'>): boolean {
  return type === 'ApprovalRequired' || (type === 'Held' && holds.has(reason));
}

/** One condition of each type, with what is withheld of all targets. */
export function withheldClaims(withheld: readonly Withheld[]): WithheldClaim[] {
  const held = claim(
    'Held',
    withheld.filter(({ reason }) => holds.has(reason)),
  );
  const approvals = claim(
    'ApprovalRequired',
    withheld.filter(({ reason }) => reason === 'ApprovalRequired'),
  );
  return [...held, ...approvals];
}

/** In one sentence for all targets, the first reason first; undefined where nothing is withheld. As long as a condition may be. */
export function describeWithheld(withheld: readonly Withheld[]): { readonly reason: Reason; readonly message: string } | undefined {
  const [first] = withheld;
  if (first === undefined) return undefined;
  const messages = new Set(withheld.map(({ message }) => message));
  return { reason: first.reason, message: cut([...messages].join('; '), maxMessageLength) };
}

function claim(type: string, withheld: readonly Withheld[]): WithheldClaim[] {
  const found = describeWithheld(withheld);
  return found === undefined ? [] : [{ type, status: 'True', ...found }];
}
