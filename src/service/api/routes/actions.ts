/** What users ask of a policy: the annotations that the commands write, with the caller's own rights, so that the audit log of the API server names who did it. */
import { z } from 'zod';
import {
  actionAnnotations,
  formatRequest,
  parseRollback,
  requestedByAnnotation,
  type ActionName,
} from '../../../core/model/policy-actions.ts';
import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import { isDigest, isTag } from '../../../core/model/image-reference.ts';
import { AccessError } from '../access.ts';
import { ActionRefused } from '../ports.ts';
import { defineRoute, policyParams, type Route } from '../route.ts';
import { policiesOf, seePolicy, whyNoActions } from '../see-policies.ts';

const done = z.object({
  requested: z.string().describe('The value that was written: the status repeats it when it was handled.'),
});
const rights =
  'The change is made with the token of the caller, so it needs the same rights as `kubectl annotate`: to patch the policy, and the verb of the action where the admission policy of the chart is installed.';

/** An annotation with its value, or a part of the spec. */
type Change = { readonly value: string } & ({ readonly annotation: keyof typeof actionAnnotations } | { readonly spec: object });

interface Action<B extends z.ZodObject> {
  readonly name: ActionName | 'suspend' | 'resume';
  readonly summary: string;
  readonly about: string;
  readonly body: B;
  /** What is written, or why nothing can be. */
  readonly change: (policy: ImagePolicy, body: z.output<B>, now: Date) => Change | { readonly conflict: string };
}

function defineAction<B extends z.ZodObject>({ name, summary, about, body, change }: Action<B>): Route {
  return defineRoute({
    method: 'POST',
    path: `/policies/{namespace}/{name}/${name}`,
    id: `${name}Policy`,
    group: 'Actions',
    summary,
    about: `${about} ${rights}`,
    params: policyParams,
    body,
    answer: done,
    status: 202,
    errors: [404, 409],
    async handle({ params, body: wanted, access, ports }) {
      const { patch } = policiesOf(ports);
      const noActions = whyNoActions(ports, access);
      if (noActions !== undefined) throw new AccessError(403, noActions);
      const policy = await seePolicy(ports, access, params);
      const made = change(policy, wanted, ports.now());
      if ('conflict' in made) throw new ActionRefused(409, made.conflict);
      await patch(access.credentials, params, toPatch(made, name, access.user));
      ports.logger.info({ policy: `${params.namespace}/${params.name}`, action: name, user: access.user }, 'action requested');
      return { requested: made.value };
    },
  });
}

/** Says with the annotation who wrote it. */
function toPatch(change: Change, action: Action<z.ZodObject>['name'], user: string): object {
  if ('spec' in change) return { spec: change.spec };
  const by = action === 'suspend' || action === 'resume' ? {} : { [requestedByAnnotation]: formatRequest(action, change.value, user) };
  return { metadata: { annotations: { [actionAnnotations[change.annotation]]: change.value, ...by } } };
}

const tag = z.string().refine(isTag, 'is a tag');

export const actions: readonly Route[] = [
  defineAction({
    name: 'approve',
    summary: 'Approve the image that waits',
    about: 'The tag and digest must be those that wait, so that nobody approves what he has not seen; otherwise the answer is 409.',
    body: z.object({ tag, digest: z.string().refine(isDigest, 'is a digest') }),
    change({ status: { pendingApproval: pending } }, wanted) {
      if (pending === undefined) return { conflict: 'no image waits for approval' };
      if (pending.tag !== wanted.tag || pending.digest !== wanted.digest)
        return { conflict: `${pending.tag}@${pending.digest} waits for approval, and not ${wanted.tag}@${wanted.digest}` };
      return { annotation: 'approve', value: `${wanted.tag}@${wanted.digest}` };
    },
  }),
  defineAction({
    name: 'rollback',
    summary: 'Roll back',
    about: 'To the previous image, or to a tag; also outside of windows and without approval. What is left is rejected until a release.',
    body: z.object({ to: tag.default('previous') }),
    // The time makes it a new request, also when the same rollback was requested before.
    change: (_, { to }, now) => ({ annotation: 'rollbackTo', value: `${parseRollback(to)} ${now.toISOString()}` }),
  }),
  defineAction({
    name: 'release',
    summary: 'Release what is held',
    about: 'What has been held, rejected or reverted up to now, or up to a time in the future, may be changed again.',
    body: z.object({ at: z.iso.datetime({ offset: true }).exactOptional().describe('RFC 3339; now unless given.') }),
    change: (_, { at }, now) => ({ annotation: 'release', value: at ?? now.toISOString() }),
  }),
  defineAction({
    name: 'check',
    summary: 'Ask the registry now',
    about: '`status.lastHandledRequest` has the value when the policy was reconciled.',
    body: z.object({}),
    change: (_, _none, now) => ({ annotation: 'requestedAt', value: now.toISOString() }),
  }),
  defineAction({
    name: 'suspend',
    summary: 'Suspend the policy',
    about: 'Nothing is checked or changed until it is resumed.',
    body: z.object({}),
    change: () => ({ spec: { suspend: true }, value: 'true' }),
  }),
  defineAction({
    name: 'resume',
    summary: 'Resume the policy',
    about: 'Ends a suspension.',
    body: z.object({}),
    change: () => ({ spec: { suspend: false }, value: 'false' }),
  }),
];
