import type { ImagePolicy } from '../model/image-policy.ts';
import type { Outcome } from './outcome.ts';

/** The ending of every look at a policy that is to be left alone; undefined for one that is not. Nothing is asked or changed for it. */
export function suspendedOutcome({ spec }: Pick<ImagePolicy, 'spec'>): Outcome | undefined {
  if (spec.suspended !== true) return undefined;
  const message = 'suspended: nothing is looked at or changed until spec.suspend is false';
  const then = 'problem' in spec ? `; then it will not act before this is mended: ${spec.problem.message}` : '';
  return { kind: 'suspended', reason: 'Suspended', message: message + then };
}
