/** The actions that users can request of the policy of a base, in the order of the buttons. Pure. */
import { defined } from '../core/model/defined.ts';
import { parseApproval } from '../core/model/policy-actions.ts';
import type { BaseDetail } from '../service/api/base-view.ts';
import { basePath } from './parts/inline.ts';
import { reasonOf } from './parts/reason-field.ts';
import type { Query } from './page.ts';
import type { Texts } from './texts/en.ts';

export const baseActionNames = ['approve', 'reject', 'release', 'check', 'suspend', 'resume'] as const;
export type BaseActionName = (typeof baseActionNames)[number];

export interface BaseAction {
  readonly name: BaseActionName;
  readonly label: string;
  /** Whether the action would have an effect now. */
  readonly isPossible: boolean;
  readonly question: string;
  /** The base that is approved or rejected, which the form names, so that nobody decides about another one than he has seen. */
  readonly image?: { readonly tag: string; readonly digest: string };
}

/** The actions for the policy of a base; without one, all actions. */
export function baseActionsFor(base: BaseDetail | undefined, texts: Texts): readonly BaseAction[] {
  const isSuspended = base?.state === 'Suspended';
  const pending = base?.pendingApproval;
  const approved = approvedOf(base);
  const rejected = base?.status.rejected ?? [];
  const isHeld = base !== undefined && (base.reason === 'BaseRejected' || rejected.length > 0);
  const decided = pending ?? approved;
  const actions: Record<BaseActionName, Omit<BaseAction, 'name' | 'label'>> = {
    approve: {
      isPossible: pending !== undefined,
      question: texts.confirmApproveBase(nameOf(pending)),
      ...defined({ image: pending }),
    },
    reject: { isPossible: decided !== undefined, question: texts.confirmReject(nameOf(decided)), ...defined({ image: decided }) },
    release: { isPossible: isHeld, question: texts.confirmReleaseBase },
    check: { isPossible: !isSuspended, question: texts.confirmCheck },
    suspend: { isPossible: !isSuspended, question: texts.confirmSuspend },
    resume: { isPossible: isSuspended, question: texts.confirmResume },
  };
  return baseActionNames.map((name) => ({ name, label: texts[name], ...actions[name] }));
}

/** The selected base, if people have approved it and nobody has rejected it since. */
function approvedOf(base: BaseDetail | undefined): { readonly tag: string; readonly digest: string } | undefined {
  if (base?.mode !== 'Approval' || base.latest === undefined || base.pendingApproval !== undefined) return undefined;
  const { status, actions, latest } = base;
  const { tag, digest } = latest;
  const isRejected = status.rejected?.some((one) => one.digest === digest) === true;
  const { approvals } = status;
  const approved = approvals === undefined ? parseApproval(actions.approve) : isEnough(approvals) ? approvals : undefined;
  return !isRejected && approved?.tag === tag && approved.digest === digest ? { tag, digest } : undefined;
}

function isEnough({ given = [], required }: NonNullable<BaseDetail['status']['approvals']>): boolean {
  return given.length >= required;
}

function nameOf(image: { readonly tag: string; readonly digest: string } | undefined): string {
  return image === undefined ? '' : `${image.tag}@${image.digest}`;
}

/** The address of the page that asks to confirm an action. */
export function baseActionPath(base: { readonly namespace: string; readonly name: string }, action: BaseActionName): string {
  return `${basePath(base)}/${action}`;
}

/** The body of the request to the API, made from the form. */
export function baseBodyOf(action: BaseActionName, form: Query): object {
  const image = action === 'approve' || action === 'reject' ? { tag: form.one('tag'), digest: form.one('digest') } : {};
  return { ...image, ...reasonOf(form) };
}
