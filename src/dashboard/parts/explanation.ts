import type { z } from 'zod';
import type { explainPolicy } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { timeAndAge } from './inline.ts';
import { messageTo, sayTo } from './said.ts';

type Explanation = z.output<(typeof explainPolicy)['answer']>;
type Step = Explanation['steps'][number];

/** The mark of each result. */
export const stepMarks: Readonly<Record<Step['result'], string>> = { pass: '✓', stop: '✗', wait: '…', note: '·' };

/** The steps of an explanation, as `image-watcher explain` prints them. `instructed`: what a message is for this user. */
export function explanation(
  { allowed, summary, steps, targets }: Explanation,
  instructed: (message: string) => string,
  texts: Texts,
): Html {
  const chainOf = (shown: readonly Step[]) =>
    chain(
      shown.map((step) => ({ ...step, text: instructed(step.text) })),
      texts,
    );
  return html`
    <p class=${allowed ? 'summary' : 'summary stopped'}>${sayTo(undefined, instructed(summary), texts)}</p>
    ${chainOf(steps)}
    ${targets.map(
      ({ target: { kind, namespace, name }, steps: own }) => html`
        <h3>${kind} ${namespace}/${name}</h3>
        ${chainOf(own)}
      `,
    )}
  `;
}

/** Steps that passed one after the other are folded: what matters is what stops or waits. */
function chain(steps: readonly Step[], texts: Texts): Html {
  const groups: Step[][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    if (group?.[0]?.result === 'pass' && step.result === 'pass') group.push(step);
    else groups.push([step]);
  }
  return html`
    <ol class="chain">
      ${groups.map((group) => (group.length > 2 ? folded(group, texts) : group.map((step) => showStep(step, texts))))}
    </ol>
  `;
}

function folded(steps: readonly Step[], texts: Texts): Html {
  return html`
    <li class="pass">
      <span class="mark" role="img" aria-label=${texts.pass}>${stepMarks.pass}</span>
      <details>
        <summary>${texts.between.passed(steps.length)} <small>${[...new Set(steps.map(({ id }) => id))].join(', ')}</small></summary>
        <ol class="chain">
          ${steps.map((step) => showStep(step, texts))}
        </ol>
      </details>
    </li>
  `;
}

function showStep({ id, result, text, origin, until, page, reason }: Step, texts: Texts): Html {
  return html`
    <li class=${result}>
      <span class="mark" role="img" aria-label=${texts[result]}>${stepMarks[result]}</span>
      <span>
        <code>${id}</code
        >${' '}${text === 'pass' ? texts.pass : messageTo(reason, text, texts)}${origin !== undefined && html` <small>${origin}</small>`}
        ${until !== undefined && html` ${timeAndAge(until)}`}
        ${page !== undefined && html` <a href=${page} rel="noreferrer">${reason ?? texts.whyLink}</a>`}
      </span>
    </li>
  `;
}
