/** The question whether to approve or reject all that was chosen. */
import type { PolicySummary } from '../../service/api/policy-view.ts';
import type { Choice } from '../choices.ts';
import { html, type Html } from '../html.ts';
import type { Rights } from '../page.ts';
import type { Texts } from '../texts/en.ts';
import { policyLink } from './inline.ts';
import { imagesOfPending } from './together.ts';
import { reasonField } from './reason-field.ts';

export type Decision = 'approve' | 'reject';

/** `waiting`: the policies with something to approve, as far as they can be read. What the user may not decide is named, and not part of the form. */
export function confirmAll(
  choices: readonly Choice[],
  waiting: readonly PolicySummary[],
  { decision, rights }: { readonly decision: Decision; readonly rights: Rights },
  texts: Texts,
): Html {
  const known = new Map(waiting.map((policy) => [`${policy.namespace}/${policy.name}`, policy]));
  const count = choices.filter((choice) => rights.may(decision, choice)).length;
  return html`
    <form method="post" action="/approvals" class="confirm">
      <input type="hidden" name="decision" value=${decision} />
      <p>${decision === 'reject' ? texts.confirmRejections(count) : texts.confirmApprovals(count)}</p>
      <ul>
        ${choices.map(({ tag, digest, ...policy }) => {
          const key = `${policy.namespace}/${policy.name}`;
          const { running = '–', targets, pendingApproval } = known.get(key) ?? {};
          // What waits by now may be another set, which is not the one that was chosen.
          const together = pendingApproval?.digest === digest ? imagesOfPending({ pendingApproval }) : undefined;
          return html`
            <li>
              ${policyLink(policy)}${' '}<code>${running}</code>${' → '}<code>${tag}</code>${' '}${targets !== undefined && html`<span class="note">${texts.workloads}: ${targets.total}</span>`}${' '}<small
                class="digest"
                >${digest}</small
              >
              ${together}
              ${
                rights.may(decision, policy)
                  ? html`<input type="hidden" name="choice" value=${`${key} ${tag} ${digest}`} />`
                  : html`<span class="note">${texts.notPermitted}</span>`
              }
            </li>
          `;
        })}
      </ul>
      ${count > 0 && reasonField(texts, decision === 'reject')}
      <p class="actions">
        ${count > 0 && html`<button class="primary">${texts[decision]}</button>`}${' '}<a class="button" href="/approvals"
          >${texts.cancel}</a
        >
      </p>
    </form>
  `;
}
