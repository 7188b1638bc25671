import type { ImagePolicy } from '../model/image-policy.ts';
import type { Outcome } from './outcome.ts';

/** The outcome of every reconcile of a suspended policy, without any request or change; undefined for a policy that is not suspended. */
export function suspendedOutcome({ spec }: Pick<ImagePolicy, 'spec'>): Outcome | undefined {
  if (spec.suspended !== true) return undefined;
  const message = 'suspended: nothing is looked at or changed until spec.suspend is false';
  const then = 'problem' in spec ? `; then it will not act before this is mended: ${spec.problem.message}` : '';
  return { kind: 'suspended', reason: 'Suspended', message: message + then };
}
