import type { z } from 'zod';
import type { getOverview } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { duration } from './inline.ts';

/** How many pushes and changes there were lately, and how long a push takes. */
export function figures({ changes, pushes }: z.output<(typeof getOverview)['answer']>, texts: Texts): Html {
  const count = Object.values(pushes.byOutcome).reduce((sum, one) => sum + one, 0);
  const { toResult } = pushes;
  const shown: [string, Html | string | number | undefined][] = [
    [texts.pushesLastHour, html`${count}${!pushes.isComplete && html` <small>${texts.notAllCounted}</small>`}`],
    [texts.changesLastHour, changes.lastHour],
    [texts.changesLastDay, changes.lastDay],
    [texts.fromPushToResult, toResult && texts.quantiles(duration(toResult.p50Ms), duration(toResult.p90Ms), toResult.count)],
  ];
  return html`
    <dl class="figures" aria-label=${texts.activity}>
      ${shown.map(
        ([label, value]) =>
          value !== undefined &&
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
    </dl>
  `;
}
