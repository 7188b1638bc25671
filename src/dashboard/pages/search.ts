import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { exactPage, find, type Found, type Hits, versionPath, workloadPath } from '../find.ts';
import { ago, baseLink, policyLink, stateBadge, tagOf } from '../parts/inline.ts';
import { imagePath, placesPath } from '../parts/place-query.ts';
import { shortDigest } from '../parts/places.ts';
import { problem } from '../parts/problem.ts';
import { pushPath } from '../parts/push.ts';
import type { Texts } from '../texts/en.ts';

const maxLength = 256;

/** The search over everything. The only hit that is named exactly is opened. */
export const search: Page = {
  path: '/search',
  async show({ query, texts, ...call }) {
    const text = query.one('q')?.slice(0, maxLength);
    if (text === undefined) return { title: texts.find.title, body: html`<p>${texts.find.hint}</p>` };
    const found = await find(text, call);
    const page = exactPage(text, found);
    return page === undefined ? { title: texts.find.titleOf(text), body: showFound(text, found, texts) } : { redirect: page };
  },
};

function showFound(text: string, { found, failure }: Found, texts: Texts): Html {
  const { policies, repositories, versions, workloads, bases, events } = found;
  const all = (path: string, name: string) => `${path}?${new URLSearchParams({ [name]: text }).toString()}`;
  const isEmpty = Object.values(found).every(({ hits }) => hits.length === 0);
  return html`
    ${failure !== undefined && problem(failure)}
    ${
      isEmpty &&
      failure === undefined &&
      html`<p class="none">${texts.find.nothing(text)}</p>
        <p class="note">${texts.find.hint}</p>`
    }
    <div class="columns">
      ${group(
        texts.policies,
        policies,
        (policy) => html`${policyLink(policy)} ${stateBadge(policy.state, texts)} <code>${policy.running ?? '–'}</code>`,
        { href: all('/policies', 'search'), texts },
      )}
      ${group(
        texts.find.images,
        repositories,
        ({ repository, places, behind }) =>
          html`<a href=${imagePath({ repository })}>${repository}</a>${' '}<small
              >${texts.find.total(places)}${behind > 0 && `, ${texts.ofImages.behind(behind)}`}</small
            >`,
        { href: all('/images', 'search'), texts },
      )}
      ${group(
        texts.find.versions,
        versions,
        (version) =>
          html`<a href=${versionPath(version, text)}>${version.repository}${version.tag !== undefined && `:${version.tag}`}</a>
            ${version.digest !== undefined && html` <code class="short" title=${version.digest}>${shortDigest(version.digest)}</code>`}${' '}<small
              >${texts.find.total(version.places)}</small
            >`,
        { href: all('/places', 'search'), texts },
      )}
      ${group(
        texts.workloads,
        workloads,
        (place) => {
          const name = html`<span class="namespace">${place.namespace}/</span>${place.name}`;
          return html`<a href=${workloadPath(place)}>${name}</a> <small>${place.kind}</small> ${tagOf(place)}`;
        },
        { href: placesPath('/places', { workload: text }), texts },
      )}
      ${group(texts.bases, bases, (base) => html`${baseLink(base)} ${stateBadge(base.state, texts)} <small>${base.image}</small>`, {
        href: all('/bases', 'search'),
        texts,
      })}
      ${group(
        texts.find.pushes,
        events,
        ({ id, registry, repository, tag, outcome, receivedAt }) => {
          const name = [registry, repository].filter((part) => part !== undefined).join('/');
          return html`<a href=${pushPath(id)}>${name || id}</a>${' '}${tagOf({ tag })} ${texts.outcomes[outcome]}
            <small>${ago(receivedAt)}</small>`;
        },
        { texts },
      )}
    </div>
  `;
}

/** The hits of one kind, with the way to the whole list. Nothing without hits. */
function group<T>(
  title: string,
  { hits, more }: Hits<T>,
  show: (hit: T) => Html,
  { href, texts }: { readonly href?: string; readonly texts: Texts },
): Html | false {
  if (hits.length === 0) return false;
  return html`
    <section>
      <h2>${title} <small>${hits.length}${more && '+'}</small></h2>
      <ul class="plain rows">
        ${hits.map((hit) => html`<li>${show(hit)}</li>`)}
      </ul>
      ${href !== undefined && more && html`<p><a href=${href}>${texts.find.allOf}</a></p>`}
    </section>
  `;
}
