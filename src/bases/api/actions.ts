/** The actions of users on a BaseImagePolicy, which are those of an ImagePolicy without the rollback, and the withdrawal of an approval. */
import { z } from 'zod';
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import { actionAnnotations, parseApproval, requestedByAnnotation } from '../../core/model/policy-actions.ts';
import { ActionRefused } from '../../service/api/ports.ts';
import { type Change, requestAction, requested, requireActions, rights } from '../../service/api/request-action.ts';
import { defineRoute, policyParams, type Route } from '../../service/api/route.ts';
import { baseResource, seeBase, type BaseView } from './view.ts';

interface Action<B extends z.ZodObject> {
  readonly name: 'approve' | 'reject' | 'release' | 'check' | 'suspend' | 'resume';
  readonly summary: string;
  readonly about: string;
  readonly body: B;
  /** Returns the change to write, or why nothing can be written. */
  readonly change: (policy: BaseImagePolicy, body: z.output<B>, now: Date) => Change | { readonly conflict: string };
}

const image = z.object({ tag: z.string().refine(isTag, 'is a tag'), digest: z.string().refine(isDigest, 'is a digest') });

/** The routes of all actions. */
export function createBaseActions(view: BaseView | undefined): Route[] {
  const define = <B extends z.ZodObject>({ name, summary, about, body, change }: Action<B>): Route =>
    defineRoute({
      method: 'POST',
      path: `/bases/{namespace}/{name}/${name}`,
      id: `${name}Base`,
      group: 'Bases',
      summary,
      about: `${about} ${rights}`,
      params: policyParams,
      body,
      answer: requested,
      status: 202,
      errors: [404, 409],
      async handle({ params, body: wanted, access, ports }) {
        requireActions(ports, access);
        const policy = await seeBase(view, access, params);
        const made = change(policy, wanted, ports.now());
        if ('conflict' in made) throw new ActionRefused(409, made.conflict);
        return requestAction({ ...params, of: baseResource }, { name, change: made }, { ports, access });
      },
    });
  return [
    define({
      name: 'approve',
      summary: 'Approve the base that waits',
      about: 'The tag and digest must be those that wait, so that nobody approves what he has not seen; otherwise the answer is 409.',
      body: image,
      change({ status: { pendingApproval: pending } }, wanted) {
        if (pending === undefined) return { conflict: 'no base waits for approval' };
        if (pending.tag !== wanted.tag || pending.digest !== wanted.digest)
          return { conflict: `${pending.tag}@${pending.digest} waits for approval, and not ${wanted.tag}@${wanted.digest}` };
        return { annotation: 'approve', value: `${wanted.tag}@${wanted.digest}` };
      },
    }),
    define({
      name: 'reject',
      summary: 'Reject a base that was approved',
      about:
        'Takes the approval back: nothing more is begun for the base until it is approved again. What was begun is not undone. The tag and digest must be those that are approved; otherwise the answer is 409.',
      body: image,
      change({ actions, requested: last }, wanted) {
        const approved = parseApproval(actions?.approve);
        if (approved?.tag !== wanted.tag || approved.digest !== wanted.digest)
          return { conflict: `${wanted.tag}@${wanted.digest} is not approved, so that nothing is done for it` };
        // The name of the user who approved it goes with the approval.
        const by = last?.action === 'approve' ? { [requestedByAnnotation]: null } : {};
        return { metadata: { annotations: { [actionAnnotations.approve]: null, ...by } }, value: `${wanted.tag}@${wanted.digest}` };
      },
    }),
    define({
      name: 'release',
      summary: 'Release a base that was rejected by failed rollouts',
      about: 'Bases that failed up to now, or up to a time in the future, are tried again.',
      body: z.object({ at: z.iso.datetime({ offset: true }).exactOptional().describe('RFC 3339; now unless given.') }),
      change: (_, { at }, now) => ({ annotation: 'release', value: at ?? now.toISOString() }),
    }),
    define({
      name: 'check',
      summary: 'Ask the registry for the base now',
      about: '`status.lastHandledRequest` has the value when the policy was reconciled.',
      body: z.object({}),
      change: (_, _none, now) => ({ annotation: 'requestedAt', value: now.toISOString() }),
    }),
    define({
      name: 'suspend',
      summary: 'Suspend the policy of a base',
      about: 'Nothing is checked or begun until it is resumed.',
      body: z.object({}),
      change: () => ({ spec: { suspend: true }, value: 'true' }),
    }),
    define({
      name: 'resume',
      summary: 'Resume the policy of a base',
      about: 'Ends a suspension.',
      body: z.object({}),
      change: () => ({ spec: { suspend: false }, value: 'false' }),
    }),
  ];
}
