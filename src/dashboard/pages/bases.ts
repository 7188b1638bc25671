import { baseReads, type BaseSummary } from '../../service/api/base-view.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { policyFilters } from '../parts/filters.ts';
import { ago, baseLink, stateBadge, tagOf } from '../parts/inline.ts';
import { commandedFor, refOfBase } from '../parts/instruction.ts';
import { messageTo } from '../parts/said.ts';
import { partOf } from '../parts/problem.ts';
import { table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

export const bases: Page = {
  path: '/bases',
  section: 'bases',
  async show({ api, query, texts }) {
    const filters = { search: query.one('search'), state: query.one('state'), namespace: query.one('namespace') };
    // The filters stay if the list fails: a user who may list only some namespaces has to name one.
    const listed = await partOf(
      api.read(baseReads.list, { ...filters, after: query.one('after'), limit: 100 }),
      ({ bases: found, next }) => {
        const given = Object.entries({ ...filters, after: next }).filter((entry): entry is [string, string] => entry[1] !== undefined);
        return html`
          ${found.length > 0 ? baseTable(found, texts) : html`<p class="none">${texts.noBases}</p>`}
          <p class="pages">
            ${next !== undefined && html`<a rel="next" href=${`/bases?${new URLSearchParams(given).toString()}`}>${texts.next}</a>`}
          </p>
        `;
      },
    );
    return { title: texts.bases, body: html`${policyFilters('/bases', query, texts)} ${listed}`, isLive: true };
  },
};

function baseTable(found: readonly BaseSummary[], texts: Texts): Html {
  return table(
    [texts.base, texts.state, texts.latest, texts.images, texts.behindSince],
    found.map((base) => [
      html`${baseLink(base)}<span class="repository">${base.image}</span>`,
      html`${stateBadge(base.state, texts)}
      ${base.message !== undefined && base.reason !== 'UpToDate' && html`<span class="why">${messageTo(base.reason, commandedFor(base.message, refOfBase(base)), texts)}</span>`}`,
      tagOf(base.latest),
      base.images === undefined ? '–' : texts.imagesOf(base.images.current, base.images.behind, base.images.unknown),
      ago(base.behindSince) || '–',
    ]),
    'policies',
    texts.bases,
  );
}
