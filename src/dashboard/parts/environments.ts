/** Where each image is on its way through the policies that follow each other: one row per image, one column per policy. */
import { policyKey } from '../../core/model/image-policy.ts';
import type { EnvironmentsView } from '../../service/api/environments-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, policyLink, tagOf, timeAndAge } from './inline.ts';
import { shortDigest } from './places.ts';
import { messageTo } from './said.ts';

type Stage = EnvironmentsView['images'][number]['stages'][number];

const toneOf: Readonly<Record<Stage['state'], string>> = {
  Healthy: 'good',
  Runs: 'good',
  RollingOut: 'busy',
  Failed: 'bad',
  Approval: 'ask',
  NotCopied: 'wait',
  Waits: 'wait',
  Ran: 'off',
};

/** The rows, whose cells name their policy on narrow screens; nothing for a policy without others. */
export function environments(found: EnvironmentsView | undefined, texts: Texts): Html {
  if (found === undefined) return html``;
  const { policies, images, hidden } = found;
  const own = texts.ofEnvironments;
  return html`
    <section id="environments">
      <h2>${own.title}</h2>
      ${images.length === 0 ? html`<p class="note">${own.none}</p>` : showImages(policies, images, texts)}
      ${hidden > 0 && html`<p class="note">${own.hidden(hidden)}</p>`}
    </section>
  `;
}

function showImages(policies: EnvironmentsView['policies'], images: EnvironmentsView['images'], texts: Texts): Html {
  return html`
    <table class="cards" aria-label=${texts.ofEnvironments.title}>
      <thead>
        <tr>
          <th scope="col">${texts.image}</th>
          ${policies.map((policy) => html`<th scope="col">${policyLink(policy)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${images.map(
          ({ tag, digest, stages }) => html`
            <tr>
              <th scope="row">
                ${tag !== undefined && html`${tagOf({ tag, digest })}${' '}`}<code class="short" title=${digest}
                  >${shortDigest(digest)}</code
                >
              </th>
              ${policies.map((policy) =>
                showStage(
                  policyKey(policy),
                  stages.find((one) => policyKey(one) === policyKey(policy)),
                  texts,
                ),
              )}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

function showStage(label: string, stage: Stage | undefined, texts: Texts): Html {
  if (stage === undefined) return html`<td class="empty"></td>`;
  const { state, since, until, reason, message } = stage;
  const own = texts.ofEnvironments;
  return html`<td data-label=${label}>
    <span class=${`badge ${toneOf[state]}`}>${own.states[state]}</span
    >${' '}${since !== undefined && html`<span class="note">${ago(since)}</span>`}
    ${until !== undefined && html`<div>${own.until}${' '}${timeAndAge(until)}</div>`}
    ${message !== undefined && html`<div class="why">${messageTo(reason, message, texts)}</div>`}
  </td>`;
}
