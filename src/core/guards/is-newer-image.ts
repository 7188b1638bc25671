import type { PolicySpec } from '../image-policy.ts';
import type { Candidate } from '../plan-update.ts';

/** Whether a candidate is newer than an image that the policy had selected; also when the policy would not select that one any more. */
export function isNewerImage(candidate: Candidate, than: Candidate, { strategy }: Pick<PolicySpec, 'strategy'>): boolean {
  if (strategy.reject(than.tag) !== undefined) return true;
  const order = strategy.compare(candidate.tag, than.tag);
  if (order !== 0) return order > 0;
  return candidate.digest !== undefined && than.digest !== undefined && candidate.digest !== than.digest;
}
