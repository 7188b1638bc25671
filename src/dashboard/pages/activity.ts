import { activityReads, activityTypes, type ActivityEntry } from '../../service/api/activity-view.ts';
import { html, type Html } from '../html.ts';
import type { Page, Query } from '../page.ts';
import { activityNames, activityRequest } from '../parts/activity-query.ts';
import { option } from '../parts/inline.ts';
import { filterNames, moreFilters } from '../parts/more-filters.ts';
import { showAction, showChange } from '../parts/happened.ts';
import { recordOf } from '../parts/problem.ts';
import { showPush } from '../parts/push.ts';
import type { Texts } from '../texts/en.ts';

/** What happened and what people asked for, newest first. */
export const activity: Page = {
  path: '/activity',
  section: 'activity',
  async show(call) {
    const { api, query, texts } = call;
    const reading = api.read(activityReads.list, { ...activityRequest(query), before: query.one('before'), limit: 50 });
    const list = await recordOf(reading, call, ({ activity: found, next }) => showList(found, next, query, texts));
    const body = html`${showFilters(query, texts)} ${list}`;
    return { title: texts.activity, body, isLive: true, followed: ['policies', 'pushes', 'activity'] };
  },
};

function showList(found: readonly ActivityEntry[], next: string | undefined, query: Query, texts: Texts): Html {
  const given = activityNames.flatMap((name) => {
    const value = query.one(name);
    return value === undefined ? [] : [[name, value] satisfies [string, string]];
  });
  const search = new URLSearchParams(given);
  const older = next === undefined ? undefined : new URLSearchParams([...search, ['before', next]]);
  return html`
    ${
      found.length === 0
        ? html`<p class="none">${texts.happened.none}</p>`
        : html`<ol class="events">
            ${found.map((entry) => showEntry(entry, texts))}
          </ol>`
    }
    <p class="pages">
      ${older !== undefined && html`<a rel="next" href=${`/activity?${older.toString()}`}>${texts.older}</a>`}
      <a href=${`/activity.csv?${search.toString()}`}>${texts.happened.csv}</a>
      <a href=${`/activity.json?${search.toString()}`}>${texts.happened.json}</a>
      <a href="/events">${texts.happened.onlyPushes}</a>
    </p>
  `;
}

function showEntry(entry: ActivityEntry, texts: Texts): Html {
  if (entry.type === 'push') return showPush(entry.push, texts);
  return entry.type === 'change' ? showChange(entry, texts) : showAction(entry, texts);
}

function showFilters(query: Query, texts: Texts): Html {
  const { happened } = texts;
  return html`
    <form class="filters" method="get" action="/activity" role="search" data-instant>
      <label>
        ${happened.type}
        <select name="type">
          ${option('', happened.everything, query.one('type'))}
          ${activityTypes.map((one) => option(one, happened.types[one], query.one('type')))}
        </select>
      </label>
      <label
        >${texts.policy} <input name="policy" value=${query.one('policy')} placeholder="shop/web" maxlength="317" autocapitalize="none"
      /></label>
      <button>${texts.apply}</button>
      ${moreFilters(filterNames, query, texts)}
    </form>
  `;
}
