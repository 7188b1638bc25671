import type { z } from 'zod';
import { eventOutcomes } from '../../service/api/event-view.ts';
import { getEvents } from '../../service/api/routes/events.ts';
import { getOverview } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Page, Query } from '../page.ts';
import { bars } from '../parts/bars.ts';
import { duration, option, policyLink, tagOf, time } from '../parts/inline.ts';
import { partOf } from '../parts/problem.ts';
import type { Texts } from '../texts/en.ts';

type PushEvent = z.output<typeof getEvents.answer>['events'][number];

export const events: Page = {
  path: '/events',
  section: 'events',
  async show({ api, query, texts }) {
    const named = ['repository', 'policy', 'outcome', 'receiver', 'from', 'to'].map((name) => [name, query.one(name)] as const);
    const { from, to, ...filters } = Object.fromEntries(named);
    const period = { since: utcOf(from), until: utcOf(to) };
    const { events: found, next } = await api.read(getEvents, { ...filters, ...period, before: query.one('before'), limit: 50 });
    const given = [...named, ['before', next] as const].filter((entry): entry is [string, string] => entry[1] !== undefined);
    const activity = await partOf(api.read(getOverview), ({ changes }) => showChanges(changes.byHour, texts));
    const body = html`
      ${activity} ${showFilters(query, texts)}
      ${
        found.length === 0
          ? html`<p class="none">${texts.noEvents}</p>`
          : html`<ol class="events">
              ${found.map((event) => showEvent(event, texts))}
            </ol>`
      }
      <p class="pages">
        ${next !== undefined && html`<a rel="next" href=${`/events?${new URLSearchParams(given).toString()}`}>${texts.older}</a>`}
      </p>
    `;
    return { title: texts.events, body, isLive: true };
  },
};

function showChanges(byHour: readonly number[], texts: Texts): Html {
  return html`<h2>${texts.changesByHour}</h2>
    ${bars(byHour, texts.changesByHour, (value, hoursAgo) => texts.changesInHour(value, hoursAgo))}`;
}

/** A time of a form, which browsers write without seconds and without a zone, as RFC 3339. */
function utcOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${text}${/T\d\d:\d\d$/.test(text) ? ':00' : ''}Z`;
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
      <label>${texts.receiver} <input name="receiver" value=${query.one('receiver')} maxlength="63" autocapitalize="none" /></label>
      <label>${texts.fromUtc} <input type="datetime-local" name="from" value=${query.one('from')} /></label>
      <label>${texts.toUtc} <input type="datetime-local" name="to" value=${query.one('to')} /></label>
      <label>
        ${texts.outcome}
        <select name="outcome">
          ${option('', texts.anyOutcome, query.one('outcome'))}
          ${eventOutcomes.map((one) => option(one, texts.outcomes[one], query.one('outcome')))}
        </select>
      </label>
      <button>${texts.apply}</button>
    </form>
  `;
}

function showEvent(event: PushEvent, texts: Texts): Html {
  const { id, registry, repository, receiver, receivedAt, outcome, message, reason, count, replayOf, policies } = event;
  const name = [registry, repository].filter((part) => part !== undefined).join('/');
  return html`
    <li>
      <p><span class=${`badge ${toneOf[outcome]}`}>${texts.outcomes[outcome]}</span> <b>${name || '–'}</b> ${tagOf(event)}</p>
      <p class="note">
        ${time(receivedAt)} · ${texts.receiver} ${receiver} · ${texts.event} <code>${id}</code>
        ${replayOf !== undefined && html` · ${texts.replayOf} <code>${replayOf}</code>`}
        ${count !== undefined && count > 1 && ` · ${texts.ignoredTimes(count)}`}
      </p>
      ${(message ?? reason) !== undefined && html`<p class="why">${message ?? reason}</p>`}
      ${outcome === 'unwatched' && html`<p class="why">${texts.unwatched}</p>`}
      <ul>
        ${policies.map(
          (policy) => html`
            <li>
              ${policyLink(policy)} <span class=${`badge ${toneOf[policy.outcome]}`}>${texts.outcomes[policy.outcome]}</span>
              ${policy.afterMs !== undefined && html` <small>${texts.after(duration(policy.afterMs))}</small>`}
              ${policy.message !== undefined && html`<span class="why">${policy.message}</span>`}
              ${policy.noticesGivenUp?.map(
                ({ target, kind, reason, message }) =>
                  html`<span class="why">${texts.noticeGivenUp[reason](kind, target)}${message !== undefined && `: ${message}`}</span>`,
              )}
            </li>
          `,
        )}
      </ul>
    </li>
  `;
}

const toneOf: Readonly<Record<PushEvent['outcome'], string>> = {
  failed: 'bad',
  stalled: 'bad',
  retrying: 'wait',
  waiting: 'wait',
  working: 'busy',
  queued: 'busy',
  updated: 'good',
  suspended: 'off',
  unchanged: 'off',
  ignored: 'off',
  unwatched: 'off',
};
