import { placeStates } from '../../service/explain/running-places.ts';
import { getImages } from '../../service/api/routes/images.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { option } from '../parts/inline.ts';
import { readPlaceQuery, type PlaceQuery } from '../parts/place-query.ts';
import { placeList } from '../parts/places.ts';
import { partOf } from '../parts/problem.ts';
import type { Texts } from '../texts/en.ts';

/** The containers of all repositories: where a digest runs, for example. */
export const places: Page = {
  path: '/places',
  section: 'images',
  async show({ api, query, texts }) {
    const given = readPlaceQuery(query);
    const listed = await partOf(api.read(getImages, { ...given, limit: 100 }), (answer) => placeList(answer, '/places', given, texts));
    return {
      title: texts.ofImages.allPlaces,
      body: html`${showFilters(given, texts)} ${html`<section id="places">${listed}</section>`}`,
      isLive: true,
    };
  },
};

function showFilters({ search, digest, runsIn, state, ...rest }: PlaceQuery, texts: Texts): Html {
  const own = texts.ofImages;
  const hidden = (['repository', 'tag', 'workload'] as const).filter((name) => rest[name] !== undefined);
  return html`
    <form class="filters" method="get" action="/places" role="search" data-instant>
      <label class="wide"
        >${texts.search} <input type="search" name="search" value=${search} placeholder=${own.hint} maxlength="256"
      /></label>
      <label class="wide"
        >${own.withDigest}
        <input
          name="digest"
          value=${digest}
          placeholder="sha256:…"
          maxlength="140"
          pattern="(?:sha(?:256|512):)?[0-9a-f]{7,128}"
          autocapitalize="none"
          spellcheck="false"
      /></label>
      <label>${own.runsIn} <input name="runsIn" value=${runsIn} maxlength="63" pattern="[a-z0-9\\-]*" autocapitalize="none" /></label>
      <label>
        ${texts.state}
        <select name="state">
          ${option('', texts.anyState, state)} ${placeStates.map((one) => option(one, own.states[one], state))}
        </select>
      </label>
      ${hidden.map((name) => html`<input type="hidden" name=${name} value=${rest[name]} />`)}
      <button>${texts.apply}</button>
    </form>
  `;
}
