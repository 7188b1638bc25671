/** The actions of users on an ImagePolicy. */
import { z } from 'zod';
import { parseRollback, releaseTime } from '../../../core/model/policy-actions.ts';
import { promotable, promotionValue } from '../../../core/model/promotion.ts';
import { rejectionTime } from '../../../core/model/release-holds.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { type ActedKind, approveAction, commonActions, defineAction, image, rejectAction, tag } from '../policy-actions.ts';
import type { Route } from '../route.ts';
import { seePolicy } from '../see-policies.ts';

const kind: ActedKind<ImagePolicy> = { path: '/policies', suffix: 'Policy', group: 'Actions', see: seePolicy };

const rulesOf = ({ spec }: ImagePolicy) => (isUsable(spec) ? spec.approvals : undefined);

export const actions: readonly Route[] = [
  defineAction(kind, approveAction('image', 'update.approvals', rulesOf)),
  defineAction(kind, rejectAction('image')),
  defineAction(kind, {
    name: 'rollback',
    summary: 'Roll back',
    about:
      'To the previous image, or to a tag; also outside of windows and without approval. What is left is rejected until a release. A suspended policy has to be resumed first; until then, the answer is 409.',
    body: z.object({ to: tag.default('previous') }),
    // The time makes each request a new one, even if the same rollback was requested before.
    change({ spec }, { to }, now) {
      if (spec.suspended === true) return { conflict: 'the policy is suspended, and has to be resumed first' };
      return { annotation: true, value: `${parseRollback(to)} ${now.toISOString()}` };
    },
  }),
  defineAction(kind, {
    name: 'promote',
    summary: 'Promote the image that waits for its proof',
    about:
      'It is applied although the policies that this one follows have not run it for long enough, or although the policy is on hold. The tag and digest must be those that wait, and at least one followed policy must run them; otherwise the answer is 409. All other guards decide as before. It needs the verb `approve`.',
    body: image,
    change(policy, wanted, now) {
      const found = promotable(policy.status, policy.actions);
      if ('why' in found) return { conflict: found.why };
      if (found.tag !== wanted.tag || found.digest !== wanted.digest)
        return { conflict: `${found.tag}@${found.digest} waits, and not ${wanted.tag}@${wanted.digest}` };
      return { annotation: true, value: promotionValue(found, policy.actions, now) };
    },
  }),
  defineAction(kind, {
    name: 'hold',
    summary: 'Hold the policy at what it runs',
    about:
      'Nothing else is applied until a release; the registry is still asked, and rollbacks go on. An image that is promoted meanwhile is applied, and the hold remains for others. It needs the verb `release`.',
    body: z.object({}),
    change({ actions: requested }, _, now) {
      const at = rejectionTime(now, releaseTime(requested)).toISOString();
      return { hold: { at }, value: at };
    },
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
    rulesOf,
  ),
];
