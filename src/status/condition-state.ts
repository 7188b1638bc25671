import type { Condition } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';

/** A condition that is the case, before it is compared with what was. */
export type ConditionState = Pick<Condition, 'type' | 'status' | 'message'> & { readonly reason: Reason };
