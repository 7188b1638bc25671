/** The actions of users on a BaseImagePolicy, which are those of an ImagePolicy without the rollback. */
import { type BaseImagePolicy, isUsableBase } from '../../core/model/base-policy.ts';
import { isBaseApproved } from '../../core/plan/base-decisions.ts';
import {
  type ActedKind,
  approveAction,
  commonActions,
  defineAction,
  rejectAction,
  type RulesOf,
} from '../../service/api/policy-actions.ts';
import type { Route } from '../../service/api/route.ts';
import { baseResource, seeBase, type BaseView } from './view.ts';

const rulesOf: RulesOf<BaseImagePolicy> = ({ spec }) => (isUsableBase(spec) ? spec.base.approvals : undefined);

/** The routes of all actions. */
export function createBaseActions(view: BaseView | undefined): Route[] {
  const kind: ActedKind<BaseImagePolicy> = {
    path: '/bases',
    suffix: 'Base',
    group: 'Bases',
    of: baseResource,
    see: (_, access, key) => seeBase(view, access, key),
  };
  return [
    defineAction(kind, approveAction('base', 'approvals', rulesOf)),
    defineAction(
      kind,
      rejectAction(
        'base',
        'Nothing more is begun for it until a release; a newer one is used. What was begun is not undone. The tag and digest must be those of the base that waits for approval, or was approved; otherwise the answer is 409.',
        isSelectedAndApproved,
      ),
    ),
    ...commonActions(
      kind,
      {
        release: {
          summary: 'Release a base that was rejected',
          about: 'Bases that failed or were rejected up to now, or up to a time in the future, are tried again.',
        },
        check: {
          summary: 'Ask the registry for the base now',
          about: '`status.lastHandledRequest` has the value when the policy was reconciled.',
        },
        suspend: { summary: 'Suspend the policy of a base', about: 'Nothing is checked or begun until it is resumed.' },
        resume: { summary: 'Resume the policy of a base', about: 'Ends a suspension.' },
      },
      rulesOf,
    ),
  ];
}

/** Whether the base was approved by people, and nothing newer is selected. */
function isSelectedAndApproved(policy: BaseImagePolicy, { tag, digest }: { tag: string; digest: string }, now: Date): boolean {
  const { spec, status } = policy;
  if (!isUsableBase(spec) || spec.base.mode !== 'Approval' || status.latest?.digest !== digest || status.latest.tag !== tag) return false;
  const isRejected = status.rejected?.some((one) => one.digest === digest) === true;
  return !isRejected && isBaseApproved({ ...policy, spec }, { tag, digest }, now);
}
