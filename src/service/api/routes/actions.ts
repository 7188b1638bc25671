/** The actions of users on an ImagePolicy. */
import { z } from 'zod';
import { parseRollback } from '../../../core/model/policy-actions.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { approvalTime } from '../../../core/model/named-approvals.ts';
import { type ActedKind, approveAction, commonActions, defineAction, image, tag, whyNotPending } from '../policy-actions.ts';
import type { Route } from '../route.ts';
import { seePolicy } from '../see-policies.ts';

const kind: ActedKind<ImagePolicy> = { path: '/policies', suffix: 'Policy', group: 'Actions', see: seePolicy };

const approve = approveAction<ImagePolicy>('image');

/** The approval of one of several people, or why it would not count; undefined for a policy that one person approves. */
function approveAsOneOfMany({ spec, status, editedBy }: ImagePolicy, wanted: z.output<typeof image>, now: Date, user: string) {
  if (!isUsable(spec) || spec.approvals === undefined) return undefined;
  const { approvals } = status;
  if (spec.approvals.notByAuthor && editedBy === user)
    return { conflict: 'you have changed the policy last, and its approvals.notByAuthor does not count your approval' };
  const isSame = approvals?.tag === wanted.tag && approvals.digest === wanted.digest;
  const own = isSame ? approvals.given?.find((one) => one.user === user) : undefined;
  if (own !== undefined) return { conflict: `you have approved it at ${own.at}, and each person counts once` };
  return { approval: { ...wanted, at: approvalTime(status, now) }, value: `${wanted.tag}@${wanted.digest}` };
}

export const actions: readonly Route[] = [
  defineAction(kind, {
    ...approve,
    about: `${approve.about} With \`update.approvals\`, it is one of several approvals; whose does not count is answered 409 as well.`,
    change(policy, wanted, now, user) {
      const made = approve.change(policy, wanted, now, user);
      return 'conflict' in made ? made : (approveAsOneOfMany(policy, wanted, now, user) ?? made);
    },
  }),
  defineAction(kind, {
    name: 'reject',
    summary: 'Reject the image that waits',
    about:
      'It is not applied until a release; something newer is. The tag and digest must be those that wait for approval; otherwise the answer is 409. It needs the verb `approve`.',
    body: image,
    // The time makes each request a new one, even if the same image was rejected and released before.
    change({ status }, wanted, now) {
      const conflict = whyNotPending(status, wanted, 'image');
      return conflict ?? { annotation: true, value: `${wanted.tag}@${wanted.digest} ${now.toISOString()}` };
    },
  }),
  defineAction(kind, {
    name: 'rollback',
    summary: 'Roll back',
    about: 'To the previous image, or to a tag; also outside of windows and without approval. What is left is rejected until a release.',
    body: z.object({ to: tag.default('previous') }),
    // The time makes each request a new one, even if the same rollback was requested before.
    change: (_, { to }, now) => ({ annotation: true, value: `${parseRollback(to)} ${now.toISOString()}` }),
  }),
  ...commonActions(
    kind,
    {
      release: {
        summary: 'Release what is held',
        about: 'What has been held, rejected or reverted up to now, or up to a time in the future, may be changed again.',
      },
      check: { summary: 'Ask the registry now', about: '`status.lastHandledRequest` has the value when the policy was reconciled.' },
      suspend: { summary: 'Suspend the policy', about: 'Nothing is checked or changed until it is resumed.' },
      resume: { summary: 'Resume the policy', about: 'Ends a suspension.' },
    },
    ({ spec }) => isUsable(spec) && spec.approvals?.notByAuthor === true,
  ),
];
