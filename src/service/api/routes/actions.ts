/** The actions of users on an ImagePolicy. */
import { z } from 'zod';
import { parseRollback } from '../../../core/model/policy-actions.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import { type ActedKind, approveAction, commonActions, defineAction, rejectAction, tag } from '../policy-actions.ts';
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
    rulesOf,
  ),
];
