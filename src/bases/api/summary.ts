/** BaseImagePolicies as the API shows them. Pure. */
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import type { Origins } from '../../core/model/image-origin.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { BaseDetail, BaseSummary } from '../../service/api/base-view.ts';
import { changesOf, toApprovals } from '../../service/api/policy-view.ts';
import { type PolicyState, stateFrom } from '../../core/model/policy-state.ts';

/** The state of a policy in one word. */
export function stateOf({ spec, status }: BaseImagePolicy): PolicyState {
  const isSuspended = isUsableBase(spec) ? spec.base.suspended : spec.suspended;
  return stateFrom(isSuspended === true, status.conditions ?? []);
}

/** The view of a policy in a list. `origins`: where the base that waits and the one before were built from. */
export function summarize(policy: BaseImagePolicy, origins: Origins = {}): BaseSummary {
  const { namespace, name, uid, spec, status } = policy;
  const { latest, pendingApproval, approvals, images, waves, behindSince, conditions = [] } = status;
  const condition = decisiveCondition(conditions);
  return {
    namespace,
    name,
    uid,
    ...(isUsableBase(spec) && {
      image: formatRepository(spec.base.repository),
      selects: spec.base.strategy.description,
      mode: spec.base.mode,
    }),
    state: stateOf(policy),
    ...(condition && { reason: condition.reason, message: condition.message, since: condition.lastTransitionTime }),
    ...defined({ latest, pendingApproval }),
    ...(pendingApproval && approvals && { approvals: toApprovals(approvals) }),
    ...defined({ changes: changesOf(origins), images, waves, behindSince }),
  };
}

/** The view of one policy. */
export function detail(policy: BaseImagePolicy, origins?: Origins): BaseDetail {
  const { generation, spec, status, actions = {}, requested } = policy;
  const { approve, reject, release, requestedAt } = actions;
  return {
    ...summarize(policy, origins),
    generation,
    onNewBase: isUsableBase(spec) ? spec.onNewBase.map(({ kind }) => kind) : [],
    conditions: status.conditions ?? [],
    status,
    actions: defined({ approve, reject, release, requestedAt }),
    ...defined({ requested }),
  };
}
