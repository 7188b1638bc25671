import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { messageTo } from './said.ts';

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
      html`${reason} <span class="why">${messageTo(reason, message, texts)}</span>`,
      ago(lastTransitionTime),
    ]),
    '',
    texts.conditions,
  );
}
