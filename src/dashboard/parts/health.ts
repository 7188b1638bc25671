/** Whether registries answer, and announce their pushes. */
import type { z } from 'zod';
import type { ShownCause } from '../../service/api/routes/causes.ts';
import type { getRegistries } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { causePath, causeSentence } from './causes.ts';
import { ago } from './inline.ts';
import { table } from './tables.ts';

/** Shows the registries. `causes`: what is wrong, of which some may be about a registry. */
export function showRegistries(
  registries: z.output<(typeof getRegistries)['answer']>['registries'],
  causes: readonly ShownCause[],
  texts: Texts,
): Html {
  return html`
    <section>
      <h2>${texts.registries}</h2>
      ${table(
        [texts.registry, texts.policies, texts.stalledPolicies, texts.lastPush, texts.health],
        registries.map(({ host, policies, stalled, lastPushAt, unannounced }) => {
          const healthy = lastPushAt === undefined ? texts.neverAnnounced : texts.healthy;
          const cause = causes.find(({ kind, subject }) => kind === 'registry' && subject === host);
          const health = unannounced > 0 ? warning(texts.silent(unannounced)) : healthy;
          return [host, policies, stalled, ago(lastPushAt) || '–', cause === undefined ? health : showCause(cause, texts)];
        }),
      )}
    </section>
  `;
}

function showCause(cause: ShownCause, texts: Texts): Html {
  return html`<a class="warning" href=${causePath(cause)}>${causeSentence(cause, texts)}</a>${' '}<span class="note"
      >${ago(cause.since)}</span
    >`;
}

function warning(text: string): Html {
  return html`<span class="warning">${text}</span>`;
}
