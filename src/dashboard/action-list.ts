/** The actions that users can request of a policy, in the order of the buttons. Pure. */
import type { z } from 'zod';
import type { Immutable } from '../core/model/immutable.ts';
import type { getPermitted } from '../service/api/routes/permitted.ts';
import type { getPolicy } from '../service/api/routes/policies.ts';
import type { NamedHold } from '../core/model/named-hold.ts';
import { holdOn, promotable, type Promotable } from '../core/model/promotion.ts';
import { holdOf } from '../core/model/release-holds.ts';
import { policyPath } from './parts/inline.ts';
import { reasonOf } from './parts/reason-field.ts';
import type { Query } from './page.ts';
import type { Texts } from './texts/en.ts';

export type PolicyDetail = Immutable<z.output<(typeof getPolicy)['answer']>>;

export const actionNames = ['approve', 'reject', 'rollback', 'promote', 'release', 'hold', 'check', 'suspend', 'resume'] as const;
export type ActionName = (typeof actionNames)[number];

export interface PolicyAction {
  readonly name: ActionName;
  readonly label: string;
  /** Whether the action would have an effect now. */
  readonly isPossible: boolean;
  readonly question: string;
}

/** What the API says about the actions of a user; undefined where it cannot be read. */
export type Permitted = z.output<(typeof getPermitted)['answer']> | undefined;

/** The actions for a policy; without one, all actions. */
export function actionsFor(policy: PolicyDetail | undefined, texts: Texts, permitted?: Permitted): readonly PolicyAction[] {
  const isSuspended = policy?.state === 'Suspended';
  const pending = policy?.pendingApproval;
  const waits = policy === undefined ? undefined : promotedBy(policy);
  const isPossible: Record<ActionName, boolean> = {
    approve: pending !== undefined,
    reject: pending !== undefined,
    rollback: permitted === undefined ? previousTags(policy).length > 0 : permitted.previous !== undefined,
    release:
      policy !== undefined &&
      (holdNow(policy)?.at !== undefined || holdOf(policy.status) !== undefined || (policy.status.rejected?.length ?? 0) > 0),
    promote: waits !== undefined,
    hold: policy !== undefined && !isSuspended && holdNow(policy) === undefined,
    check: !isSuspended,
    suspend: !isSuspended,
    resume: isSuspended,
  };
  const questions: Record<ActionName, string> = {
    approve: texts.confirmApprove(nameOf(pending)),
    reject: texts.confirmRejectImage(nameOf(pending)),
    rollback: texts.confirmRollback,
    promote: texts.confirmPromote(nameOf(waits)),
    release: texts.confirmRelease,
    hold: texts.confirmHold,
    check: texts.confirmCheck,
    suspend: texts.confirmSuspend,
    resume: texts.confirmResume,
  };
  return actionNames.map((name) => ({ name, label: texts[name], isPossible: isPossible[name], question: questions[name] }));
}

/** The image that a promotion would let go; undefined if there is none. */
export function promotedBy({ status, actions }: PolicyDetail): Promotable | undefined {
  const found = promotable(status, actions);
  return 'why' in found ? undefined : found;
}

/** What keeps the policy at what it runs; undefined if nothing does. */
export function holdNow({ actions }: Pick<PolicyDetail, 'actions'>): NamedHold | undefined {
  return holdOn({}, actions, new Date());
}

function nameOf(pending: PolicyDetail['pendingApproval']): string {
  return pending === undefined ? '' : `${pending.tag}${pending.digest === undefined ? '' : `@${pending.digest}`}`;
}

/** The address of the page that asks to confirm an action. */
export function actionPath(policy: { readonly namespace: string; readonly name: string }, action: ActionName): string {
  return `${policyPath(policy)}/${action}`;
}

/** The tags that containers ran before, the newest first. */
export function previousTags(policy: PolicyDetail | undefined): string[] {
  const [current, ...older] = [...new Set((policy?.status.history ?? []).flatMap(({ tag, from }) => [tag, tagIn(from)]))];
  return older.filter((tag) => tag !== undefined && tag !== current) as string[];
}

function tagIn(image: string | undefined): string | undefined {
  return image?.split('@')[0]?.match(/:([\w][\w.-]{0,127})$/)?.[1];
}

/** The body of the request to the API, made from the form. */
export function bodyOf(action: ActionName, form: Query): object {
  const reason = reasonOf(form);
  switch (action) {
    case 'approve':
    case 'reject':
    case 'promote':
      return { tag: form.one('tag'), digest: form.one('digest'), ...reason };
    case 'rollback':
      return { to: form.one('to'), ...reason };
    default:
      return reason;
  }
}
