/** How many of several people have approved an image, who they are, and until when the others can. */
import type { PolicySummary } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, timeAndAge } from './inline.ts';

/** Undefined for an image that one person approves. */
export function approvalsOf({ approvals }: Pick<PolicySummary, 'approvals'>, texts: Texts): Html | undefined {
  if (approvals === undefined) return undefined;
  const { required, given, uncounted, until } = approvals;
  return html`<span class="note"
    >${texts.approvedByMany(given.length, required)}${given.map(
      ({ user, at, reason }) => html`${' · '}<b>${user}</b>${' '}${ago(at)}${reason !== undefined && html`${' '}<q>${reason}</q>`}`,
    )}${uncounted.map(({ user, why }) => html`${' · '}<s>${user}</s>${' '}${texts.uncounted[why as keyof Texts['uncounted']] ?? why}`)}${
      until !== undefined && html`${' · '}${texts.approvableUntil}${' '}${timeAndAge(until)}`
    }</span
  >`;
}
