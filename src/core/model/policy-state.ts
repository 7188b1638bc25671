/** The state of a policy in one word, as the API, the pages and the metrics have it. Pure. */
import { decisiveCondition } from './decisive-condition.ts';
import type { ImagePolicy } from './image-policy.ts';
import type { Condition } from './policy-status.ts';

/**
 * One word for the state of a policy: the first of these that is true.
 *
 * | state            | when                                                                            |
 * | ---------------- | ------------------------------------------------------------------------------- |
 * | Suspended        | `spec.suspend`                                                                  |
 * | Failed           | Stalled, because a rollout failed, or because an image that failed is selected  |
 * | Stalled          | Stalled for another reason                                                      |
 * | ApprovalRequired | an image waits for approval                                                     |
 * | Progressing      | a rollout is under way                                                          |
 * | Waiting          | Reconciling for another reason: a window, a minimum age, a retry                |
 * | Held             | an image is held back until somebody acts                                       |
 * | Ready            | all targets run the selected image                                              |
 * | Unknown          | not reconciled yet, or not since it was resumed                                 |
 */
export const policyStates = [
  'Failed',
  'Stalled',
  'ApprovalRequired',
  'Progressing',
  'Waiting',
  'Held',
  'Ready',
  'Suspended',
  'Unknown',
] as const;
export type PolicyState = (typeof policyStates)[number];

const failures: ReadonlySet<string> = new Set(['RolloutFailed', 'RejectedDigest', 'BaseRejected']);

/** The state of a policy in one word. */
export function stateOf({ spec, status }: ImagePolicy): PolicyState {
  return stateFrom(spec.suspended === true, status.conditions ?? []);
}

/** The state of a policy of any kind, from its conditions. */
export function stateFrom(isSuspended: boolean, conditions: readonly Condition[]): PolicyState {
  if (isSuspended) return 'Suspended';
  const found = decisiveCondition(conditions);
  if (found === undefined) return 'Unknown';
  switch (found.type) {
    case 'Stalled':
      return failures.has(found.reason) ? 'Failed' : 'Stalled';
    case 'ApprovalRequired':
    case 'Held':
      return found.type;
    case 'Reconciling':
      return found.reason === 'Progressing' ? 'Progressing' : 'Waiting';
    default:
      return found.status === 'True' && found.reason !== 'Suspended' ? 'Ready' : 'Unknown';
  }
}
