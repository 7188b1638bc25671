import type { NoticeKind } from '../core/model/notice.ts';
import type { WorkWing } from '../service/compose/work-wing.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import { isChildOf } from './policies/child-policies.ts';

/** What a BaseImagePolicy reports for all the ImagePolicies that it created. */
const reportedByParent: ReadonlySet<NoticeKind> = new Set(['Updated', 'RolledOut']);

/** Whether the parent of a policy reports this for it. Only a policy that the parent itself has created is its child. */
export function reportsForChild({ get }: Pick<BasePolicyCache['policies'], 'get'>): NonNullable<WorkWing['reports']> {
  return (policy, kind) =>
    reportedByParent.has(kind) && policy.parent !== undefined && isChildOf(policy, get(policy.namespace, policy.parent.name));
}
