import { getCauses, type ShownCause } from '../../service/api/routes/causes.ts';
import { getImages, getVersions } from '../../service/api/routes/images.ts';
import { ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { showCause } from '../parts/causes.ts';
import { imagePath, readPlaceQuery, type PlaceQuery } from '../parts/place-query.ts';
import { placeList } from '../parts/places.ts';
import { partOf } from '../parts/problem.ts';
import { versionMatrix } from '../parts/version-matrix.ts';
import type { Texts } from '../texts/en.ts';

/** One repository: its versions by namespace, and the containers that run it. */
export const image: Page = {
  path: '/image',
  section: 'images',
  async show({ api, query, texts }) {
    const given = readPlaceQuery(query);
    const { repository } = given;
    if (repository === undefined) throw new ApiFailure(404, texts.noPage);
    const [fixes, versions, places] = await Promise.all([
      partOf(api.read(getCauses), ({ causes }) => showFixes(causes, repository, texts)),
      partOf(api.read(getVersions, { repository, limit: query.one('versions') === 'all' ? 500 : 12 }), (answer) =>
        answer.versions.length === 0
          ? html`<p class="none">${texts.ofImages.noImages}</p>`
          : versionMatrix(answer.versions, answer.more, texts),
      ),
      partOf(api.read(getImages, { ...given, limit: 100 }), (answer) => placeList(answer, '/image', given, texts)),
    ]);
    const body = html`
      ${fixes}
      <section>
        <h2>${texts.ofImages.matrix}</h2>
        ${versions}
      </section>
      <section id="places">
        <h2>${texts.ofImages.places}</h2>
        ${showChosen({ ...given, repository }, texts)} ${places}
      </section>
    `;
    return { title: repository, body, isLive: true };
  },
};

/** What fixes vulnerabilities of what runs of the repository, and waits. */
function showFixes(causes: readonly ShownCause[], repository: string, texts: Texts): Html {
  const found = causes.filter(({ reason, subject }) => reason === 'FixAvailable' && subject.startsWith(`${repository}:`));
  if (found.length === 0) return html``;
  // With the commands: what this user may do is known on the page of the policy.
  return html`<section id="fixes">
    <h2>${texts.ofImages.fixes}</h2>
    <ol class="causes">
      ${found.map((one) => showCause(one, { noActions: '' }, texts))}
    </ol>
  </section>`;
}

/** What was chosen in the table of versions, and the way back to all. */
function showChosen(given: PlaceQuery & { readonly repository: string }, texts: Texts): Html | false {
  const { repository, tag, digest, runsIn } = given;
  const chosen: [string, string | undefined][] = [
    [texts.ofImages.tag, tag],
    [texts.ofImages.withDigest, digest],
    [texts.namespace, runsIn],
  ];
  const present = chosen.filter(([, value]) => value !== undefined);
  if (present.length === 0) return false;
  return html`<p>
    ${present.map(([label, value]) => html`${label} <code>${value}</code> · `)}<a href=${`${imagePath({ repository })}#places`}
      >${texts.ofImages.anyVersion}</a
    >
  </p>`;
}
