import type { PolicySummary } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { policyLink, stateBadge, tagOf, time } from './inline.ts';

/** A table whose rows become cards on narrow screens: the heading of a column is repeated in each cell. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[], kind = ''): Html {
  return html`
    <table class=${`cards ${kind}`}>
      <thead>
        <tr>
          ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...cells]) => html`
            <tr>
              <th scope="row">${first}</th>
              ${cells.map((cell, index) => html`<td data-label=${headings[index + 1]}>${cell}</td>`)}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

/** A policy may be Ready and keep an update back all the same: in a dry run. */
function isTold({ state, reason, message }: PolicySummary): boolean {
  return message !== undefined && (state !== 'Ready' || reason !== 'UpToDate');
}

/** A table of policies, with the reason where not everything runs that is selected. */
export function policyTable(policies: readonly PolicySummary[], texts: Texts): Html {
  return table(
    [texts.policy, texts.state, texts.running, texts.latest, texts.since],
    policies.map((policy) => [
      html`${policyLink(policy)}<span class="repository">${policy.image}</span>`,
      html`${stateBadge(policy.state, texts)} ${isTold(policy) && html`<span class="why">${policy.message}</span>`}`,
      html`<code>${policy.running ?? '–'}</code>`,
      tagOf(policy.latest),
      time(policy.since),
    ]),
    'policies',
  );
}
