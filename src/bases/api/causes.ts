/** The causes that BaseImagePolicies report. */
import { isUsableBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { isReason, type Reason } from '../../core/model/reasons.ts';
import { AccessError } from '../../service/api/access.ts';
import type { FindCauses } from '../../service/api/ports.ts';
import type { Cause } from '../../service/causes/cause.ts';
import { reasonRules } from '../../service/causes/reason-rules.ts';
import { type BaseView, listBases } from './view.ts';

/** Reasons of a policy that is in order, for which somebody should act all the same. */
const warnings: ReadonlySet<string> = new Set<Reason>(['ImagesUnknown', 'ImagesBehind']);

/** Creates the finder of the causes. Who may list no BaseImagePolicies sees none of them. */
export function createBaseCauses(view: BaseView): FindCauses {
  return async (access, namespace) => {
    try {
      return (await listBases(view, access, namespace)).flatMap((policy) => baseCause(policy) ?? []);
    } catch (error) {
      if (error instanceof AccessError && error.status === 403) return [];
      throw error;
    }
  };
}

/** The cause that a policy reports; undefined if it is in order, waits for approval, or proceeds. */
function baseCause({ namespace, name, spec, status }: BaseImagePolicy): Cause | undefined {
  const condition = decisiveCondition(status.conditions ?? []);
  if (condition === undefined || (isUsableBase(spec) ? spec.base.suspended : spec.suspended) === true) return undefined;
  const { type, reason, message, lastTransitionTime: since } = condition;
  const isPassing = type === 'Reconciling' && isReason(reason) && reasonRules[reason] !== undefined;
  const isWarning = type === 'Ready' && warnings.has(reason);
  if (type !== 'Stalled' && !isPassing && !isWarning) return undefined;
  const subject = `${namespace}/${name}`;
  return {
    id: `base/${reason}/${subject}`,
    kind: 'base',
    urgency: isWarning ? 'Warning' : isPassing ? 'Passing' : 'Blocked',
    subject,
    reason,
    message,
    since,
    policies: [{ namespace, name }],
    step: 'seeBase',
    command: `image-watcher explain -n ${namespace} bipol/${name}`,
  };
}
