/** The actions of users on a policy. They write the annotations of the commands with the caller's rights, so the API server's audit log names the user. */
import { z } from 'zod';
import { type ActionName, parseRollback } from '../../../core/model/policy-actions.ts';
import type { ImagePolicy } from '../../../core/model/image-policy.ts';
import { isDigest, isTag } from '../../../core/model/image-reference.ts';
import { ActionRefused } from '../ports.ts';
import { defineRoute, policyParams, type Route } from '../route.ts';
import { type Change, requestAction, requested, requireActions, rights } from '../request-action.ts';
import { seePolicy } from '../see-policies.ts';

interface Action<B extends z.ZodObject> {
  readonly name: ActionName | 'suspend' | 'resume';
  readonly summary: string;
  readonly about: string;
  readonly body: B;
  /** Returns the change to write, or why nothing can be written. */
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
    answer: requested,
    status: 202,
    errors: [404, 409],
    async handle({ params, body: wanted, access, ports }) {
      requireActions(ports, access);
      const policy = await seePolicy(ports, access, params);
      const made = change(policy, wanted, ports.now());
      if ('conflict' in made) throw new ActionRefused(409, made.conflict);
      return requestAction(params, { name, change: made }, { ports, access });
    },
  });
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
    // The time makes each request a new one, even if the same rollback was requested before.
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
