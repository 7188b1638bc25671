/** Entries of the record of activity: what the service did, and what people asked for. */
import type { NoticeKind } from '../../core/model/notice.ts';
import type { ActivityEntry } from '../../service/api/activity-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, baseLink, policyLink, tagOf, time } from './inline.ts';
import { pushPath } from './push.ts';
import { messageTo } from './said.ts';

type Change = Extract<ActivityEntry, { type: 'change' }>;
type Action = Extract<ActivityEntry, { type: 'action' }>;

const toneOf: Readonly<Record<NoticeKind, string>> = {
  Updated: 'busy',
  RolledOut: 'good',
  RolloutFailed: 'bad',
  RolledBack: 'bad',
  ApprovalRequired: 'ask',
  ApprovalEnded: 'off',
  Blocked: 'wait',
  FixAvailable: 'ask',
  Behind: 'wait',
  Rebased: 'good',
  RebuildRequested: 'busy',
  Refused: 'bad',
  WebhookMissing: 'bad',
  CertificateExpiring: 'bad',
};

export function showChange(
  { kind, at, subject, from = [], workloads = [], hasMore, message, event, ...image }: Change,
  texts: Texts,
): Html {
  return html`
    <li>
      <p>
        <span class=${`badge ${toneOf[kind]}`}>${texts.happened.kinds[kind]}</span>${' '}<b>${subjectLink(subject)}</b>${' '}
        ${from.length > 0 && html`<small>${from.map(tagIn).join(', ')} → </small>`} ${image.tag !== undefined && tagOf(image)}
      </p>
      <p class="note">
        ${time(at)} · ${ago(at)}${workloads.length > 0 && ` · ${workloads.join(', ')}${hasMore === true ? ' …' : ''}`}
        ${event !== undefined && html` · ${texts.event} <a href=${pushPath(event)}><code>${event.slice(0, 12)}</code></a>`}
      </p>
      ${message !== undefined && html`<p class="why">${messageTo(image.reason, message, texts)}</p>`}
    </li>
  `;
}

export function showAction({ at, action, subject, value, user, why }: Action, { happened }: Texts): Html {
  const who = user === undefined ? html`<i title=${happened.somebodyTitle}>${happened.somebody}</i>` : html`<b>${user}</b>`;
  return html`
    <li>
      <p>
        ${who} ${happened.asked[action]} ${subjectLink(subject)} ${value !== undefined && html`<code>${shortValue(action, value)}</code>`}
      </p>
      <p class="note">${time(at)} · ${ago(at)}</p>
      ${why !== undefined && html`<p class="why">“${why}”</p>`}
    </li>
  `;
}

function subjectLink({ kind, namespace = '', name }: Change['subject']): Html {
  switch (kind) {
    case 'ImagePolicy':
      return policyLink({ namespace, name });
    case 'BaseImagePolicy':
      return baseLink({ namespace, name });
    case 'Push':
      return html`<a href=${pushPath(name)}><code>${name.slice(0, 12)}</code></a>`;
    default:
      return html`${namespace !== '' && html`<span class="namespace">${namespace}/</span>`}${name}`;
  }
}

/** What was asked for: a tag without its digest, and without the time that makes a request unique. */
function shortValue(action: Action['action'], value: string): string {
  if (action === 'replay') return value.slice(0, 12);
  return action === 'check' ? '' : (value.split(/[@ ]/)[0] ?? '');
}

/** The tag of an image, or the image if it has none. */
function tagIn(image: string): string {
  return /:([\w][\w.-]{0,127})(?:@.*)?$/.exec(image)?.[1] ?? image;
}
