/** The actions of users on a policy of either kind. They write the annotations of the commands with the caller's rights, so the API server's audit log names the user. */
import { defined } from '../../core/model/defined.ts';
import { z } from 'zod';
import type { ApprovalRound } from '../../core/model/approval-round.ts';
import type { ApprovalRules, ImagePolicy } from '../../core/model/image-policy.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import { approvalTime, whyNoVote } from '../../core/model/named-approvals.ts';
import type { Access } from './access.ts';
import { ActionRefused, type ApiPorts, type PatchedObject } from './ports.ts';
import { type AnyAction, type Change, requestAction, requested, requireActions, rights, why } from './request-action.ts';
import { defineRoute, policyParams, type Route, type RouteGroup } from './route.ts';

/** A kind of policy on which callers act. */
export interface ActedKind<P> {
  /** The path of the policies of the kind: `/policies`. */
  readonly path: string;
  /** The end of the operation ids: `Policy`. */
  readonly suffix: string;
  readonly group: RouteGroup;
  /** The kind that is patched; ImagePolicy unless given. */
  readonly of?: PatchedObject['of'];
  /** Finds the policy; throws AccessError if the caller may not get it. */
  readonly see: (ports: ApiPorts, access: Access, key: Pick<ImagePolicy, 'namespace' | 'name'>) => Promise<P>;
}

/** An action of the API, and what it writes to a policy. */
export interface Action<P, B extends z.ZodObject> {
  readonly name: AnyAction;
  readonly summary: string;
  readonly about: string;
  readonly body: B;
  /** Returns the change to write for a user, or why nothing can be written. */
  readonly change: (policy: P, body: z.output<B>, now: Date, user: string) => Change | { readonly conflict: string };
}

export const tag = z.string().refine(isTag, 'is a tag');
/** The body of an action on one image. */
export const image = z.object({ tag, digest: z.string().refine(isDigest, 'is a digest') });

/** The route of an action. */
export function defineAction<P, B extends z.ZodObject>(
  { path, suffix, group, of, see }: ActedKind<P>,
  { name, summary, about, body, change }: Action<P, B>,
): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/{namespace}/{name}/${name}`,
    id: `${name}${suffix}`,
    group,
    summary,
    about: `${about} ${rights}`,
    params: policyParams,
    body: body.extend(why.shape).meta({ id: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}${suffix}Request` }),
    answer: requested,
    status: 202,
    errors: [404, 409],
    async handle({ params, body: wanted, access, ports }) {
      const { reason } = why.parse(wanted);
      requireActions(ports, access);
      const policy = await see(ports, access, params);
      const made = change(policy, wanted as z.output<B>, ports.now(), access.user);
      if ('conflict' in made) throw new ActionRefused(409, made.conflict);
      return requestAction({ ...params, ...defined({ of }) }, { name, change: made, reason }, { ports, access });
    },
  });
}

type Described = Pick<Action<never, never>, 'summary' | 'about'>;

/** What waits for approval, as both kinds have it in their status, and who has approved it. */
interface Approvable {
  readonly status: {
    readonly pendingApproval?: { readonly tag: string; readonly digest: string };
    readonly approvals?: ApprovalRound;
  };
  readonly editedBy?: string;
}

/** Whose approvals a policy asks for; undefined if one person approves. */
export type RulesOf<P> = (policy: P) => ApprovalRules | undefined;

/** The action `approve`. `what`: the word for what waits. `field`: the field of the spec with the rules. */
export function approveAction<P extends Approvable>(what: 'image' | 'base', field: string, rulesOf: RulesOf<P>): Action<P, typeof image> {
  return {
    name: 'approve',
    summary: `Approve the ${what} that waits`,
    about: `The tag and digest must be those that wait, so that nobody approves what he has not seen; otherwise the answer is 409. With \`${field}\`, it is one of several approvals; whose does not count is answered 409 as well.`,
    body: image,
    change(policy, wanted, now, user) {
      const conflict = whyNotPending(policy.status, wanted, what);
      if (conflict !== undefined) return conflict;
      const rules = rulesOf(policy);
      if (rules !== undefined) return approveAsOneOfMany(policy, rules, { ...wanted, at: approvalTime(policy.status, now) }, user);
      return { annotation: true, value: `${wanted.tag}@${wanted.digest}` };
    },
  };
}

/** The approval of one of several people, or why it would not count. */
function approveAsOneOfMany(
  { status: { approvals }, editedBy }: Approvable,
  { notByAuthor }: ApprovalRules,
  approval: z.output<typeof image> & { readonly at: string },
  user: string,
): Change | { readonly conflict: string } {
  const conflict = whyNoVote({ notByAuthor, ...defined({ approvals, editedBy }) }, approval, user);
  return conflict === undefined ? { approval, value: `${approval.tag}@${approval.digest}` } : { conflict };
}

/** The action `reject`. `isApproved`: whether something that waits no more may still be rejected. */
export function rejectAction<P extends Approvable>(
  what: 'image' | 'base',
  about = 'It is not applied until a release; something newer is. The tag and digest must be those that wait for approval; otherwise the answer is 409.',
  isApproved: (policy: P, wanted: z.output<typeof image>, now: Date) => boolean = () => false,
): Action<P, typeof image> {
  return {
    name: 'reject',
    summary: `Reject the ${what} that waits`,
    about: `${about} It needs the verb \`approve\`.`,
    body: image,
    // The time makes each request a new one, even if the same was rejected and released before.
    change(policy, wanted, now) {
      const conflict = isApproved(policy, wanted, now) ? undefined : whyNotPending(policy.status, wanted, what);
      return conflict ?? { annotation: true, value: `${wanted.tag}@${wanted.digest} ${now.toISOString()}` };
    },
  };
}

/** The conflict if this image does not wait for approval; undefined if it does. */
function whyNotPending(
  { pendingApproval: pending }: Approvable['status'],
  wanted: z.output<typeof image>,
  what: 'image' | 'base',
): { readonly conflict: string } | undefined {
  if (pending === undefined) return { conflict: `no ${what} waits for approval` };
  if (pending.tag === wanted.tag && pending.digest === wanted.digest) return undefined;
  return { conflict: `${pending.tag}@${pending.digest} waits for approval, and not ${wanted.tag}@${wanted.digest}` };
}

/** The actions that need no body, or a time, and that differ in their description alone. */
export function commonActions<P>(
  kind: ActedKind<P>,
  described: Readonly<Record<'release' | 'check' | 'suspend' | 'resume', Described>>,
  rulesOf: RulesOf<P>,
): Route[] {
  const asksForAuthor = (policy: P) => rulesOf(policy)?.notByAuthor === true;
  const nothing = z.object({});
  return [
    defineAction(kind, {
      name: 'release',
      ...described.release,
      body: z.object({ at: z.iso.datetime({ offset: true }).exactOptional().describe('RFC 3339; now unless given.') }),
      change: (_, { at }, now) => ({ annotation: true, value: at ?? now.toISOString() }),
    }),
    defineAction(kind, {
      name: 'check',
      ...described.check,
      body: nothing,
      change: (_, _none, now) => ({ annotation: true, value: now.toISOString() }),
    }),
    defineAction(kind, {
      name: 'suspend',
      ...described.suspend,
      body: nothing,
      change: (policy) => ({ spec: { suspend: true }, value: 'true', namesAuthor: asksForAuthor(policy) }),
    }),
    defineAction(kind, {
      name: 'resume',
      ...described.resume,
      body: nothing,
      change: (policy) => ({ spec: { suspend: false }, value: 'false', namesAuthor: asksForAuthor(policy) }),
    }),
  ];
}
