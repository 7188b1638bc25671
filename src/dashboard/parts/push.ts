/** A push and what became of it, for each policy. */
import type { z } from 'zod';
import type { getEvents } from '../../service/api/routes/events.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, duration, policyLink, tagOf, time } from './inline.ts';
import { commandedFor } from './instruction.ts';
import { messageTo, plainTo } from './said.ts';

export type PushEvent = z.output<typeof getEvents.answer>['events'][number];

/** The address of the page of a push. */
export function pushPath(id: string): string {
  return `/events/${encodeURIComponent(id)}`;
}

/** A push as an entry of a list. */
export function showPush(event: PushEvent, texts: Texts): Html {
  const { id, registry, repository, receiver, receivedAt, outcome, message, reason, count, replayOf, policies } = event;
  const name = [registry, repository].filter((part) => part !== undefined).join('/');
  return html`
    <li>
      <p><span class=${`badge ${toneOf[outcome]}`}>${texts.outcomes[outcome]}</span> <b>${name || '–'}</b> ${tagOf(event)}</p>
      <p class="note">
        ${time(receivedAt)} · ${ago(receivedAt)} · ${texts.receiver} ${receiver} · ${texts.event}${' '}<a href=${pushPath(id)}
          ><code>${id.slice(0, 12)}</code></a
        >
        ${replayOf !== undefined && html` · ${texts.replayOf} <a href=${pushPath(replayOf)}><code>${replayOf.slice(0, 12)}</code></a>`}
        ${count !== undefined && count > 1 && ` · ${texts.ignoredTimes(count)}`}
      </p>
      ${(message ?? reason) !== undefined && html`<p class="why">${messageTo(reason, message, texts) ?? reason}</p>`}
      ${outcome === 'unwatched' && html`<p class="why">${texts.unwatched}</p>`}
      <ul>
        ${policies.map(
          (policy) => html`
            <li>
              ${policyLink(policy)} <span class=${`badge ${toneOf[policy.outcome]}`}>${texts.outcomes[policy.outcome]}</span>
              ${policy.afterMs !== undefined && html` <small>${texts.after(duration(policy.afterMs))}</small>`}
              ${policy.message !== undefined && html`<span class="why">${messageTo(policy.reason, commandedFor(policy.message, policy), texts)}</span>`}
              ${policy.noticesGivenUp?.map(
                ({ target, kind, reason, message }) =>
                  html`<span class="why"
                    >${texts.noticeGivenUp[reason](kind, target)}${message !== undefined && `: ${plainTo(message, texts)}`}</span
                  >`,
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
