import type { z } from 'zod';
import { getRepositories } from '../../service/api/routes/images.ts';
import { html, type Html } from '../html.ts';
import type { Page, Query } from '../page.ts';
import { imagePath } from '../parts/place-query.ts';
import { partOf } from '../parts/problem.ts';
import { table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

type Repositories = z.output<typeof getRepositories.answer>;

/** The repositories whose images run. */
export const images: Page = {
  path: '/images',
  section: 'images',
  async show({ api, query, texts }) {
    const filters = { search: query.one('search'), runsIn: query.one('runsIn') };
    const after = query.one('after');
    const listed = await partOf(api.read(getRepositories, { ...filters, after, limit: 100 }), (answer) =>
      showList(answer, { ...filters, after }, texts),
    );
    return { title: texts.images, body: html`${showFilters(query, texts)} ${listed}`, isLive: true };
  },
};

function showFilters(query: Query, texts: Texts): Html {
  return html`
    <form class="filters" method="get" action="/images" role="search" data-instant>
      <label class="wide"
        >${texts.search} <input type="search" name="search" value=${query.one('search')} placeholder=${texts.ofImages.hint} maxlength="256"
      /></label>
      <label
        >${texts.ofImages.runsIn}
        <input name="runsIn" value=${query.one('runsIn')} maxlength="63" pattern="[a-z0-9\\-]*" autocapitalize="none"
      /></label>
      <button>${texts.apply}</button>
    </form>
  `;
}

type Given = Readonly<Record<'search' | 'runsIn' | 'after', string | undefined>>;

function showList({ repositories, total, isComplete, next }: Repositories, { after, ...filters }: Given, texts: Texts): Html {
  const own = texts.ofImages;
  const given = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const addressOf = (path: string, more: [string, string][] = []) => {
    const values = [...given, ...more];
    return values.length === 0 ? path : `${path}?${new URLSearchParams(values).toString()}`;
  };
  return html`
    <p role="status" class="found">
      <span>${own.repositories(total)}</span>
      <span><a href=${addressOf('/places')}>${own.allPlaces}</a> · <a href=${addressOf('/places.csv')} download="places.csv">CSV</a></span>
    </p>
    ${!isComplete && html`<p class="note">${own.notComplete}</p>`}
    ${repositories.length > 0 ? repositoryTable(repositories, texts) : html`<p class="none">${own.noImages}</p>`}
    <p class="pages">
      ${after !== undefined && html`<a href=${addressOf('/images')}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressOf('/images', [['after', next]])}>${texts.next}</a>`}
    </p>
  `;
}

function repositoryTable(repositories: Repositories['repositories'], texts: Texts): Html {
  const own = texts.ofImages;
  return table(
    [texts.repository, own.states.Behind, own.placesColumn, own.versionsColumn, own.namespacesColumn, texts.policies],
    repositories.map(({ repository, behind, places, versions, namespaces, policies }) => [
      html`<a href=${imagePath({ repository })} title=${repository}>${repository}</a>`,
      behind > 0
        ? html`<a href=${imagePath({ repository, state: 'Behind' })}><span class="badge wait">${own.behind(behind)}</span></a>`
        : html`<span class="note">${own.noneBehind}</span>`,
      places,
      versions,
      namespaces,
      policies,
    ]),
    'repositories',
    texts.images,
  );
}
