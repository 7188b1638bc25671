import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { apiDocument, operationsOf } from '../parts/api-document.ts';
import { prose } from '../parts/schema-table.ts';
import { table } from '../parts/tables.ts';
import { documentation } from '../../core/model/reasons.ts';

export const apiReference: Page = {
  path: '/api-reference',
  async show({ api, texts }) {
    const document = await api.read(apiDocument);
    const operations = operationsOf(document);
    const own = texts.ofReference;
    const body = html`
      <p>${prose(document.info.description)}</p>
      <p>
        <a href="/api-reference.json" download="openapi.json">${own.document}</a>${' · '}
        <a href=${`${documentation}/operations/api.md`} rel="noreferrer">${own.guide}</a>
      </p>
      ${document.tags.map(
        ({ name, description }) => html`
          <section>
            <h2 lang="en">${name}</h2>
            <p>${prose(description)}</p>
            ${table(
              [own.route, own.summary],
              operations
                .filter(({ tags }) => tags.includes(name))
                .map(({ method, path, operationId, summary }) => [
                  html`<a href=${`/api-reference/${operationId}`}><code>${method} ${path}</code></a>`,
                  prose(summary),
                ]),
              'routes',
              name,
            )}
          </section>
        `,
      )}
    `;
    return { title: own.title, body };
  },
};
