/** The actions of users on a BaseImagePolicy, which are those of an ImagePolicy without the rollback, and the withdrawal of an approval. */
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { actionAnnotations, parseApproval, requestedByAnnotation, requestReasonAnnotation } from '../../core/model/policy-actions.ts';
import { type ActedKind, approveAction, commonActions, defineAction, image } from '../../service/api/policy-actions.ts';
import type { Route } from '../../service/api/route.ts';
import { baseResource, seeBase, type BaseView } from './view.ts';

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
    defineAction(kind, approveAction('base')),
    defineAction(kind, {
      name: 'reject',
      summary: 'Reject a base that was approved',
      about:
        'Takes the approval back: nothing more is begun for the base until it is approved again. What was begun is not undone. The tag and digest must be those that are approved; otherwise the answer is 409.',
      body: image,
      change({ actions, requested: last }, wanted) {
        const approved = parseApproval(actions?.approve);
        if (approved?.tag !== wanted.tag || approved.digest !== wanted.digest)
          return { conflict: `${wanted.tag}@${wanted.digest} is not approved, so that nothing is done for it` };
        // The name of the user who approved it goes with the approval, and so does the reason.
        const by = last?.action === 'approve' ? { [requestedByAnnotation]: null, [requestReasonAnnotation]: null } : {};
        return { metadata: { annotations: { [actionAnnotations.approve]: null, ...by } }, value: `${wanted.tag}@${wanted.digest}` };
      },
    }),
    ...commonActions(kind, {
      release: {
        summary: 'Release a base that was rejected by failed rollouts',
        about: 'Bases that failed up to now, or up to a time in the future, are tried again.',
      },
      check: {
        summary: 'Ask the registry for the base now',
        about: '`status.lastHandledRequest` has the value when the policy was reconciled.',
      },
      suspend: { summary: 'Suspend the policy of a base', about: 'Nothing is checked or begun until it is resumed.' },
      resume: { summary: 'Resume the policy of a base', about: 'Ends a suspension.' },
    }),
  ];
}
