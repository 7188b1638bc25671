import type { z } from 'zod';
import type { explainPolicy } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { time } from './inline.ts';

type Explanation = z.output<(typeof explainPolicy)['answer']>;
type Step = Explanation['steps'][number];

const marks: Readonly<Record<Step['result'], string>> = { pass: '✓', stop: '✗', wait: '…', note: '·' };

/** The steps of an explanation, as `image-watcher explain` prints them. */
export function explanation({ allowed, summary, steps, targets }: Explanation, texts: Texts): Html {
  return html`
    <p class=${allowed ? 'summary' : 'summary stopped'}>${summary}</p>
    ${chain(steps, texts)}
    ${targets.map(
      ({ target: { kind, namespace, name }, steps: own }) => html`
        <h3>${kind} ${namespace}/${name}</h3>
        ${chain(own, texts)}
      `,
    )}
  `;
}

function chain(steps: readonly Step[], texts: Texts): Html {
  return html`
    <ol class="chain">
      ${steps.map(
        ({ id, result, text, origin, until, page, reason }) => html`
          <li class=${result}>
            <span class="mark" role="img" aria-label=${texts[result]}>${marks[result]}</span>
            <span>
              ${origin !== undefined && html`<code>${id}</code> `}${text}${origin !== undefined && html` <small>${origin}</small>`}
              ${until !== undefined && html` ${time(until)}`}
              ${page !== undefined && html` <a href=${page} rel="noreferrer">${reason ?? texts.whyLink}</a>`}
            </span>
          </li>
        `,
      )}
    </ol>
  `;
}
