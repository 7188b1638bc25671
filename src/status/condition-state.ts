import type { Condition } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';

/** A condition to report, before it is merged with the previous conditions. */
export type ConditionState = Pick<Condition, 'type' | 'status' | 'message'> & { readonly reason: Reason };
