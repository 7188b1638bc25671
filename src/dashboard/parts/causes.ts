/** Causes as sentences, with the one thing to do. */
import type { ShownCause } from '../../service/api/routes/causes.ts';
import type { Urgency } from '../../service/causes/cause.ts';
import { documentation } from '../../core/model/reasons.ts';
import { type ActionName, actionPath } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import type { Caller, Rights } from '../page.ts';
import type { Texts } from '../texts/en.ts';
import { instructionFor } from './instruction.ts';
import { messageTo, sayTo } from './said.ts';
import { ago, baseLink, basePath, policyLink } from './inline.ts';

/** The actions that are the step of a cause. */
const actionOf: Readonly<Partial<Record<ShownCause['step'], ActionName>>> = {
  rollBack: 'rollback',
  approve: 'approve',
  unsuspend: 'resume',
  release: 'release',
  pushBetter: 'release',
  check: 'check',
};

const toneOf: Readonly<Record<Urgency, string>> = { Broken: 'bad', Blocked: 'wait', Warning: 'ask', Passing: 'busy' };

export function urgencyBadge(urgency: Urgency, texts: Texts): Html {
  return html`<span class=${`badge ${toneOf[urgency]}`}>${texts.causes.urgencies[urgency]}</span>`;
}

/** What is wrong, in one sentence. */
export function causeSentence({ kind, reason, subject, fixes }: ShownCause, { causes }: Texts): string {
  if (fixes?.[0] !== undefined) {
    const first = `${fixes[0].id} (${fixes[0].severity})`;
    return causes.fixes(subject, fixes.length === 1 ? first : causes.moreOf(first, fixes.length - 1));
  }
  const table: Readonly<Record<string, (subject: string) => string>> =
    kind === 'notification' ? causes.notifications : { ...causes.sentences, ...causes.findings };
  const sentence = Object.hasOwn(table, reason) ? table[reason] : undefined;
  if (sentence !== undefined) return sentence(subject);
  if (!reason.includes('/')) return causes.other(subject);
  const [group = ''] = reason.split('/');
  return Object.hasOwn(causes.findingGroups, group)
    ? causes.findingGroups[group as keyof typeof causes.findingGroups]
    : causes.finding(reason);
}

/** The address of the page of a cause. */
export function causePath({ id }: Pick<ShownCause, 'id'>): string {
  return `/cause?${new URLSearchParams({ id }).toString()}`;
}

/** One cause in a list. */
export function showCause(cause: ShownCause, caller: { readonly noActions?: string | undefined }, texts: Texts): Html {
  const { urgency, said, since, step, rollouts, policies } = cause;
  const sentence = causeSentence(cause, texts);
  const why = instructed(cause, caller);
  return html`
    <li class=${`cause ${toneOf[urgency]}`}>
      <div>
        <p class="what">
          ${urgencyBadge(urgency, texts)}${' '}<b>${policies > 1 ? html`<a href=${causePath(cause)}>${sentence}</a>` : sentence}</b>
        </p>
        ${rollouts !== undefined && html`<p class="rollouts">${texts.causes.rollouts(rollouts.rolledBack, rollouts.running)}</p>`}
        <p class=${step === 'followDoctor' ? 'why whole' : 'why'}>
          ${said === undefined ? messageTo(cause.reason, why, texts) : sayTo(said, why, texts)}
        </p>
      </div>
      <div>
        <p>${reachOf(cause, texts)}${' '}<span class="note">${ago(since)}</span></p>
        <p class="step">${showStep(cause, caller, texts)}</p>
      </div>
    </li>
  `;
}

/** The message of a cause without the instruction for what its step is a button for. */
function instructed(cause: ShownCause, { noActions }: { readonly noActions?: string | undefined }): string {
  const { message, named, kind } = cause;
  const [first] = named;
  if (first === undefined || kind === 'base') return message;
  return instructionFor(message, first, (action) => noActions === undefined && actionFor(cause) === action);
}

/** Whom a cause reaches: the only policy, or how many. */
function reachOf(cause: ShownCause, texts: Texts): Html | string {
  const { kind, policies, namespaces, named } = cause;
  const [only] = named;
  if (only === undefined) return '';
  if (policies === 1) return kind === 'base' ? baseLink(only) : policyLink(only);
  return html`<a href=${causePath(cause)}>${texts.causes.reach(policies, namespaces)}</a>`;
}

/** The one thing to do: a button where this user may press one, otherwise the command. */
export function showStep(cause: ShownCause, { noActions }: { readonly noActions?: string | undefined }, texts: Texts): Html {
  const { step, kind, policies, named, command, reason } = cause;
  const text = texts.causes.steps[step];
  const action = actionOf[step];
  const [first] = named;
  if (step === 'seeBase' && first !== undefined && kind === 'base') return html`<a class="button" href=${basePath(first)}>${text}</a>`;
  if (step === 'seeReceiver') return html`<a class="button" href="/setup">${text}</a>`;
  if (
    action !== undefined &&
    first !== undefined &&
    noActions === undefined &&
    (policies === 1 || step === 'approve' || isForAll(action))
  ) {
    const where = policies === 1 ? actionPath(first, action) : step === 'approve' ? '/approvals' : causePath(cause);
    return html`<a class="button" href=${where}>${text}</a>`;
  }
  if (step === 'explain' && first !== undefined && policies === 1)
    return html`<a class="button" href=${`${actionPath(first, 'check').replace(/\/check$/, '')}#explanation`}>${text}</a>`;
  return html`${text}${' '}${command !== undefined && html`<code class="copy">${command}</code>`}${' '}
  ${!reason.includes('/') && kind !== 'notification' && html`<a href=${`${documentation}/reasons.md#${reason.toLowerCase()}`} rel="noreferrer">${texts.whyLink}</a>`}`;
}

/** Why the step of a cause is no button for this user: he may do it for none of the policies that are named. */
export function whyNoStep(cause: ShownCause, { noActions }: Pick<Caller, 'noActions'>, rights: Rights, texts: Texts): string | undefined {
  const action = actionFor(cause);
  if (noActions !== undefined || action === undefined) return noActions;
  return cause.named.some((policy) => rights.may(action, policy)) ? undefined : texts.notPermitted;
}

/** The namespaces in which the step of a cause is an action. */
export function actedBy(cause: ShownCause): string[] {
  return actionFor(cause) === undefined ? [] : cause.named.map(({ namespace }) => namespace);
}

/** The actions that are done for several policies at once. */
export const bulkActions = ['rollback', 'release', 'check'] as const satisfies readonly ActionName[];

/** Whether an action is done for several policies at once. */
export function isForAll(action: ActionName): boolean {
  return bulkActions.some((one) => one === action);
}

/** The action for all policies of a cause; undefined if its step is no action. */
export function actionFor({ step }: Pick<ShownCause, 'step'>): ActionName | undefined {
  return actionOf[step];
}
