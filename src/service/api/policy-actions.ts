/** The actions of users on a policy of either kind. They write the annotations of the commands with the caller's rights, so the API server's audit log names the user. */
import { z } from 'zod';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { isDigest, isTag } from '../../core/model/image-reference.ts';
import type { Access } from './access.ts';
import { ActionRefused, type ApiPorts, type PatchedObject } from './ports.ts';
import { type AnyAction, type Change, requestAction, requested, requireActions, rights, why } from './request-action.ts';
import { defineRoute, policyParams, type Route, type RouteGroup } from './route.ts';

/** A kind of policy, as its actions need it. */
export interface ActedKind<P> {
  /** The path of its policies: `/policies`. */
  readonly path: string;
  /** The end of the operation ids: `Policy`. */
  readonly suffix: string;
  readonly group: RouteGroup;
  /** The kind that is patched; ImagePolicy unless given. */
  readonly of?: PatchedObject['of'];
  /** Finds the policy; throws AccessError if the caller may not get it. */
  readonly see: (ports: ApiPorts, access: Access, key: Pick<ImagePolicy, 'namespace' | 'name'>) => Promise<P>;
}

/** An action, and what it writes. */
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
      return requestAction({ ...params, ...(of && { of }) }, { name, change: made, reason }, { ports, access });
    },
  });
}

type Described = Pick<Action<never, never>, 'summary' | 'about'>;

/** What waits for approval, as both kinds have it in their status. */
interface Approvable {
  readonly status: { readonly pendingApproval?: { readonly tag: string; readonly digest: string } };
}

/** The action `approve`. `what`: the word for what waits. */
export function approveAction<P extends Approvable>(what: 'image' | 'base'): Action<P, typeof image> {
  return {
    name: 'approve',
    summary: `Approve the ${what} that waits`,
    about: 'The tag and digest must be those that wait, so that nobody approves what he has not seen; otherwise the answer is 409.',
    body: image,
    change({ status }, wanted) {
      return whyNotPending(status, wanted, what) ?? { annotation: true, value: `${wanted.tag}@${wanted.digest}` };
    },
  };
}

/** The conflict if this image does not wait for approval; undefined if it does. */
export function whyNotPending(
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
  asksForAuthor: (policy: P) => boolean = () => false,
): Route[] {
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
