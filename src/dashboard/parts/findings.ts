/** The report of the doctor on the installation: what needs somebody first, and what is in order folded. */
import type { z } from 'zod';
import type { getDoctor } from '../../service/api/routes/installation.ts';
import { documentation } from '../../core/model/reasons.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { sayTo } from './said.ts';

type Report = z.output<(typeof getDoctor)['answer']>;
export type ShownFinding = Report['findings'][number];
type Level = ShownFinding['level'];

const toneOf: Readonly<Record<Level, string>> = { failed: 'bad', warning: 'wait', skipped: 'off', ok: 'good' };
/** The levels that need somebody, the most urgent first. */
const urgent = ['failed', 'warning'] as const;

export function showReport({ checkedAt, findings }: Report, texts: Texts): Html {
  const { doctor } = texts;
  const needed = urgent.flatMap((level) => findings.filter((one) => one.level === level));
  const certificates = findings.filter((one) => one.line.startsWith('certificates/') && one.level === 'ok');
  const rest = findings.filter((one) => !needed.includes(one) && !certificates.includes(one));
  return html`
    <section id="doctor">
      <h2>${doctor.title}</h2>
      <p>
        ${needed.length === 0 ? doctor.allWell : doctor.needs(needed.length)}${' '}
        <span class="note">${doctor.checked}${' '}${ago(checkedAt)}</span>
      </p>
      ${needed.length > 0 && list(needed, texts)}
      ${
        certificates.length > 0 &&
        html`<h3>${doctor.certificates}</h3>
          ${list(certificates, texts)}`
      }
      <details id="checked">
        <summary>${doctor.others(rest.length)}</summary>
        ${list(rest, texts)}
      </details>
    </section>
  `;
}

function list(findings: readonly ShownFinding[], texts: Texts): Html {
  return html`
    <ul class="plain rows findings">
      ${findings.map(
        ({ line, level, message, action, said, saidAction }) => html`
          <li>
            <span class=${`badge ${toneOf[level]}`}>${texts.doctor.levels[level]}</span>${' '}${sayTo(said, message, texts)}
            ${action !== undefined && html`<p class="why">→ ${sayTo(saidAction, action, texts)}</p>`} ${' '}<small
              ><a href=${`${documentation}/doctor.md#${line.replaceAll('/', '')}`} rel="noreferrer"><code>${line}</code></a></small
            >
          </li>
        `,
      )}
    </ul>
  `;
}
