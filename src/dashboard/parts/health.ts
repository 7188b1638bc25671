/** Whether registries announce their pushes, and receivers accept them. */
import type { z } from 'zod';
import type { getReceivers, getRegistries } from '../../service/api/routes/installation.ts';
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

export function showReceivers(receivers: z.output<(typeof getReceivers)['answer']>['receivers'], texts: Texts): Html {
  return html`
    <section>
      <h2>${texts.receivers}</h2>
      ${table(
        [texts.receiver, texts.provider, texts.lastAccepted, texts.lastRefused, texts.health],
        receivers.map(({ name, provider, lastAcceptedAt, lastRefusedAt }) => {
          const isRefusing = lastRefusedAt !== undefined && (lastAcceptedAt === undefined || lastRefusedAt > lastAcceptedAt);
          const quiet = lastAcceptedAt === undefined ? texts.quiet : texts.healthy;
          return [name, provider, time(lastAcceptedAt), time(lastRefusedAt), isRefusing ? warning(texts.refusing) : quiet];
        }),
      )}
    </section>
  `;
}

function warning(text: string): Html {
  return html`<span class="warning">${text}</span>`;
}
