/** What runs: the versions, and the processes with their roles. */
import type { z } from 'zod';
import type { getInstallation } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { factList, table } from './tables.ts';

export function showRunning(
  { version, kubernetes, redis, processes }: z.output<(typeof getInstallation)['answer']>,
  { ofRunning: texts, product }: Texts,
): Html {
  return html`
    <section id="running">
      <h2>${texts.title}</h2>
      ${factList([
        [product, html`<code>${version}</code>`],
        [texts.kubernetes, kubernetes !== undefined && html`<code>${kubernetes}</code>`],
        ['Redis', redis !== undefined && html`<code>${redis}</code>`],
      ])}
      ${
        processes.length > 0 &&
        table(
          [texts.process, texts.roles, texts.version, texts.started],
          processes.map(({ name, roles, version: own, startedAt }) => [
            name,
            roles.join(', '),
            html`<code>${own}</code>${own !== version && html`${' '}<span class="warning">${texts.otherVersion}</span>`}`,
            ago(startedAt),
          ]),
        )
      }
      <p class="note">${texts.withoutRedis}</p>
    </section>
  `;
}
