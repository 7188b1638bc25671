/** The checks of the selected image (`rollout.checks`), with what they have answered. */
import type { CheckView } from '../../service/api/policy-view.ts';
import type { PolicyDetail } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, tagOf } from './inline.ts';
import { messageTo } from './said.ts';
import { table } from './tables.ts';

const toneOf: Readonly<Record<CheckView['state'], string>> = {
  NotAsked: 'off',
  Running: 'busy',
  Passed: 'good',
  Failed: 'bad',
  TimedOut: 'bad',
};

/** Nothing for a policy without checks. Answers are what endpoints, servers and Jobs say: text of others. */
export function showChecks({ checks = [], latest }: PolicyDetail, { ofChecks, ...texts }: Texts): Html | undefined {
  if (checks.length === 0) return undefined;
  return html`
    <section id="checks">
      <h2>${ofChecks.title} ${tagOf(latest)}</h2>
      ${table(
        [ofChecks.check, ofChecks.asked, ofChecks.verdict, ofChecks.answer],
        checks.map(({ name, phase, state, startedAt, at, message }) => [
          name,
          ofChecks.phases[phase],
          html`<span class=${`badge ${toneOf[state]}`}>${ofChecks.states[state]}</span
            >${(at ?? startedAt) !== undefined && html`${' '}${ago(at ?? startedAt)}`}`,
          message === undefined ? '–' : html`<span class="why">${messageTo(undefined, message, { ofChecks, ...texts })}</span>`,
        ]),
      )}
    </section>
  `;
}
