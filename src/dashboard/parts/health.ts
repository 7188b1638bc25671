/** Whether registries announce their pushes. */
import type { z } from 'zod';
import type { getRegistries } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { time } from './inline.ts';
import { table } from './tables.ts';

export function showRegistries(registries: z.output<(typeof getRegistries)['answer']>['registries'], texts: Texts): Html {
  return html`
    <section>
      <h2>${texts.registries}</h2>
      ${table(
        [texts.registry, texts.policies, texts.stalledPolicies, texts.lastPush, texts.health],
        registries.map(({ host, policies, stalled, lastPushAt, unannounced }) => {
          const healthy = lastPushAt === undefined ? texts.neverAnnounced : texts.healthy;
          return [host, policies, stalled, time(lastPushAt), unannounced > 0 ? warning(texts.silent(unannounced)) : healthy];
        }),
      )}
    </section>
  `;
}

function warning(text: string): Html {
  return html`<span class="warning">${text}</span>`;
}
