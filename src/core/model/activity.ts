/** The record of activity: what the service did, and what people asked of it. Its shapes, which are stored, and answered by the API. */
import { z } from 'zod';
import { defined } from './defined.ts';
import { actionKeys, maxReason, type ActionName, type PolicyActions, type RequestedAction } from './policy-actions.ts';
import { formatApproval } from './named-approvals.ts';
import { formatHold } from './named-hold.ts';
import { noticeKinds, noticeSubjects, type IdentifiedNotice, type NoticeKind } from './notice.ts';
import { hashId } from './push-event.ts';
import { cut } from './text.ts';
import { isSameJson } from './untyped.ts';

/** What people ask of policies, and of pushes (replay). */
const requestedActions = ['approve', 'rollback', 'release', 'check', 'reject', 'promote', 'hold', 'suspend', 'resume', 'replay'] as const;

const text = (max: number) => z.string().max(max);
const subject = z
  .object({ kind: z.enum([...noticeSubjects, 'Push']), namespace: text(63).exactOptional(), name: text(1_024) })
  .describe('What it is about: a policy, an image on a base, a certificate, or a push, by its id.');

const changeSchema = z
  .object({
    type: z.literal('change'),
    at: text(40).describe('When it happened; RFC 3339.'),
    kind: z.enum(noticeKinds).describe('What happened, in the words of notifications.'),
    subject,
    tag: text(128).exactOptional(),
    digest: text(160).exactOptional(),
    base: text(1_024).exactOptional().describe('The base that the image is to be built on.'),
    from: z.array(text(1_024)).max(32).exactOptional().describe('The images that ran before.'),
    workloads: z.array(text(400)).max(32).exactOptional(),
    hasMore: z.boolean().exactOptional().describe('Whether there are further workloads.'),
    reason: text(1_024).exactOptional().describe('One of docs/reasons.md.'),
    message: text(1_024).exactOptional(),
    event: text(128).exactOptional().describe('The push that caused it.'),
  })
  .describe('What image-watcher did, found, or waits for.');

const actionSchema = z
  .object({
    type: z.literal('action'),
    at: text(40).describe('When it was seen; RFC 3339.'),
    action: z.enum(requestedActions),
    subject,
    value: text(253).exactOptional().describe('What was requested, as the annotation has it.'),
    user: text(253)
      .exactOptional()
      .describe('Absent if the request does not name anybody: it was written by other means than the API and the commands.'),
    why: text(maxReason).exactOptional().describe('The reason that was given.'),
  })
  .describe('What somebody asked for.');

export const activitySchemas = [changeSchema, actionSchema] as const;
export const activitySchema = z.discriminatedUnion('type', activitySchemas);
export type Activity = z.output<typeof activitySchema>;
export type ActionActivity = z.output<typeof actionSchema>;

/** An activity as it is recorded. The same id is recorded once, however many replicas see it. */
export interface IdentifiedActivity {
  readonly id: string;
  readonly activity: Activity;
}

/** The kinds of notices that have the time of the change whose rollout is over. */
const ends: ReadonlySet<NoticeKind> = new Set(['RolledOut', 'RolloutFailed']);

/** The activity that a notice reports. The end of a rollout happens when it is found, not when the image was changed. */
export function activityOf({ notice, identity }: IdentifiedNotice, foundAt: string = notice.at): IdentifiedActivity {
  const { subject, images: _, nextStep: _next, eventId, message, ...rest } = notice;
  const { uid: _uid, ...named } = subject;
  const { from, workloads, ...others } = rest;
  return {
    id: hashId(['change', ...identity]),
    activity: {
      type: 'change',
      ...others,
      at: ends.has(notice.kind) ? foundAt : notice.at,
      subject: named,
      ...(from && { from: [...from] }),
      ...(workloads && { workloads: [...workloads] }),
      ...(message !== undefined && { message: cut(message, 1_024) }),
      ...defined({ event: eventId }),
    },
  };
}

/** The fields of a policy that hold what people requested. */
export interface Requestable {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly actions?: PolicyActions;
  readonly requested?: RequestedAction;
  /** Set if the service made the policy. Only a request that names somebody is then one of a person: the service rolls such a policy back itself. */
  readonly parent?: object;
}

/** The requests that a policy has and had not before, each with who made it and why, as far as the policy says so. */
export function newRequests(
  kind: 'ImagePolicy' | 'BaseImagePolicy',
  before: Requestable,
  after: Requestable,
  now: Date,
): IdentifiedActivity[] {
  const { namespace, name, uid, actions = {}, requested } = after;
  const own = (Object.entries(actionKeys) as [ActionName, Exclude<keyof PolicyActions, 'approvals' | 'hold'>][]).flatMap(
    ([action, key]) => {
      const value = actions[key];
      if (value === undefined || value === before.actions?.[key]) return [];
      const { user, reason: why } = requested?.action === action ? requested : {};
      if (after.parent !== undefined && user === undefined) return [];
      const about = { action, subject: { kind, namespace, name }, value, ...defined({ user, why }) };
      return [{ id: hashId(['action', uid, action, value]), activity: { type: 'action' as const, at: now.toISOString(), ...about } }];
    },
  );
  return [...own, ...newApprovals(kind, before, after, now), ...newHold(kind, before, after, now)];
}

/** The approvals of a policy that asks for several people, each of which names its author. */
function newApprovals(kind: 'ImagePolicy' | 'BaseImagePolicy', before: Requestable, after: Requestable, now: Date): IdentifiedActivity[] {
  const { namespace, name, uid, actions = {} } = after;
  const known = new Set(before.actions?.approvals?.map(formatApproval));
  const added = (actions.approvals ?? []).filter((one) => !known.has(formatApproval(one)));
  return added.map(({ tag, digest, at, user, reason }) => {
    const about = {
      action: 'approve' as const,
      subject: { kind, namespace, name },
      value: `${tag}@${digest}`,
      user,
      ...defined({ why: reason }),
    };
    return { id: hashId(['approval', uid, user, at, tag, digest]), activity: { type: 'action' as const, at: now.toISOString(), ...about } };
  });
}

/** A new hold of a policy, with its author. */
function newHold(kind: 'ImagePolicy' | 'BaseImagePolicy', before: Requestable, after: Requestable, now: Date): IdentifiedActivity[] {
  const { namespace, name, uid, actions: { hold } = {} } = after;
  if (kind !== 'ImagePolicy' || hold === undefined || isSameJson(hold, before.actions?.hold)) return [];
  const { at: value, user, reason: why } = hold;
  const about = { action: 'hold' as const, subject: { kind, namespace, name }, ...defined({ value, user, why }) };
  return [{ id: hashId(['hold', uid, formatHold(hold)]), activity: { type: 'action', at: now.toISOString(), ...about } }];
}
