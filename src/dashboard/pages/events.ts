import { getEvents } from '../../service/api/routes/events.ts';
import { getOverview } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import { hasActivity, type Page, type Query } from '../page.ts';
import { bars } from '../parts/bars.ts';
import { utcOf } from '../parts/activity-query.ts';
import { filterNames, moreFilters } from '../parts/more-filters.ts';
import { partOf, recordOf } from '../parts/problem.ts';
import { type PushEvent, showPush } from '../parts/push.ts';
import type { Texts } from '../texts/en.ts';

/** What is asked of a user is no push. */
const filters = filterNames.filter((name) => name !== 'user');

export const events: Page = {
  path: '/events',
  section: 'activity',
  async show(call) {
    const { api, query, texts, caller } = call;
    const named = ['repository', 'policy', ...filters].map((name) => [name, query.one(name)] as const);
    const { from, to, ...given } = Object.fromEntries(named);
    const period = { since: utcOf(from), until: utcOf(to) };
    const reading = api.read(getEvents, { ...given, ...period, before: query.one('before'), limit: 50 });
    const list = await recordOf(reading, call, ({ events: found, next }) => showList(found, next, named, texts));
    // The banner says that figures are missing.
    const hasFigures = caller.stale?.some(({ what }) => what === 'redis') !== true;
    const activity = hasFigures && (await partOf(api.read(getOverview), ({ changes }) => showChanges(changes.byHour, texts)));
    const body = html`
      ${hasActivity(caller) && html`<p><a href="/activity">${texts.happened.all}</a></p>`} ${activity} ${showFilters(query, texts)} ${list}
    `;
    return { title: texts.events, body, isLive: true, followed: ['policies', 'pushes'] };
  },
};

type Named = readonly (readonly [name: string, value: string | undefined])[];

function showList(found: readonly PushEvent[], next: string | undefined, named: Named, texts: Texts): Html {
  const given = [...named, ['before', next] as const].filter((entry): entry is [string, string] => entry[1] !== undefined);
  return html`
    ${
      found.length === 0
        ? html`<p class="none">${texts.noEvents}</p>`
        : html`<ol class="events">
            ${found.map((event) => showPush(event, texts))}
          </ol>`
    }
    <p class="pages">
      ${next !== undefined && html`<a rel="next" href=${`/events?${new URLSearchParams(given).toString()}`}>${texts.older}</a>`}
    </p>
  `;
}

function showChanges(byHour: readonly number[], texts: Texts): Html {
  return html`<h2>${texts.changesByHour}</h2>
    ${bars(byHour, texts.changesByHour, (value, hoursAgo) => texts.changesInHour(value, hoursAgo))}`;
}

function showFilters(query: Query, texts: Texts): Html {
  return html`
    <form class="filters" method="get" action="/events" role="search" data-instant>
      <label class="wide"
        >${texts.repository}
        <input type="search" name="repository" value=${query.one('repository')} placeholder=${texts.repositoryHint} maxlength="512"
      /></label>
      <label
        >${texts.policy} <input name="policy" value=${query.one('policy')} placeholder="shop/web" maxlength="317" autocapitalize="none"
      /></label>
      <button>${texts.apply}</button>
      ${moreFilters(filters, query, texts)}
    </form>
  `;
}
