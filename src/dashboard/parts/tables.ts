import type { PolicySummary } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { policyLink, stateBadge, tagOf, time } from './inline.ts';

/** A table whose rows become cards on narrow screens. For them, the heading of a column is repeated in each cell. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[], kind = '', caption?: string): Html {
  return html`
    <table class=${`cards ${kind}`}>
      ${
        caption !== undefined &&
        html`<caption>
          ${caption}
        </caption>`
      }
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

/** A list of facts by their labels. A fact that is undefined or false is left out. */
export function factList(rows: readonly (readonly [label: string, value: unknown])[]): Html {
  return html`
    <dl class="facts">
      ${rows.map(
        ([label, value]) =>
          value !== undefined &&
          value !== false &&
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  `;
}

/** Whether the message of a policy is shown. A policy may be Ready and still block an update, for example in a dry run. */
function isTold({ state, reason, message }: PolicySummary): boolean {
  return message !== undefined && (state !== 'Ready' || reason !== 'UpToDate');
}

/** A table of policies, with the reason if a selected image does not run everywhere. */
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

/** The conditions of a policy of either kind. */
export function conditionTable(
  conditions: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
  }[],
  texts: Texts,
): Html {
  return table(
    [texts.conditions, texts.state, texts.reason, texts.since],
    conditions.map(({ type, status, reason, message, lastTransitionTime }) => [
      type,
      status,
      html`${reason} <span class="why">${message}</span>`,
      time(lastTransitionTime),
    ]),
    '',
    texts.conditions,
  );
}
