/** Inline elements: links, states, times, tags. */
import type { DependentState } from '../../service/api/base-view.ts';
import type { PolicyState } from '../../core/model/policy-state.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The address of the page of a policy. */
export function policyPath({ namespace, name }: Named): string {
  return `/policies/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export function policyLink(policy: Named): Html {
  return html`<a href=${policyPath(policy)}><span class="namespace">${policy.namespace}/</span>${policy.name}</a>`;
}

/** The address of the page of a base. */
export function basePath({ namespace, name }: Named): string {
  return `/bases/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export function baseLink(base: Named): Html {
  return html`<a href=${basePath(base)}><span class="namespace">${base.namespace}/</span>${base.name}</a>`;
}

const toneOf: Readonly<Record<PolicyState, string>> = {
  Failed: 'bad',
  Stalled: 'bad',
  ApprovalRequired: 'ask',
  Progressing: 'busy',
  Waiting: 'wait',
  Held: 'wait',
  Ready: 'good',
  Suspended: 'off',
  Unknown: 'off',
};

/** A state as a coloured word. */
export function stateBadge(state: PolicyState, texts: Texts): Html {
  return html`<span class=${`badge ${toneOf[state]}`}>${texts[state]}</span>`;
}

const toneOfDependent: Readonly<Record<DependentState, string>> = {
  Failed: 'bad',
  RebuildOverdue: 'bad',
  Refused: 'bad',
  Behind: 'wait',
  Updating: 'busy',
  Requested: 'busy',
  Rebased: 'busy',
  Unknown: 'ask',
  NotExamined: 'ask',
  OtherLine: 'off',
  Updated: 'good',
  Current: 'good',
};

/** The state of an image on a base as a coloured word. */
export function dependentBadge(state: DependentState, texts: Texts): Html {
  return html`<span class=${`badge ${toneOfDependent[state]}`}>${texts.dependentStates[state]}</span>`;
}

/** A time in UTC. The script of the page converts it to the time zone of the reader. */
export function time(at: string | undefined): Html | string {
  if (at === undefined || Number.isNaN(Date.parse(at))) return '–';
  return html`<time datetime=${at}>${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** How long ago something was; the script of the page says it in words, with the time as the tooltip. */
export function ago(at: string | undefined): Html | string {
  if (at === undefined || Number.isNaN(Date.parse(at))) return '';
  return html`<time class="ago" datetime=${at}>${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A time and how long ago or ahead it is, for sentences such as "until …"; the script of the page adds how long. */
export function timeAndAge(at: string | undefined): Html | string {
  if (at === undefined || Number.isNaN(Date.parse(at))) return '–';
  return html`<time class="both" datetime=${at}>${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A text of the service, whose times in RFC 3339 are shown like the others of a page. */
export function withTimes(text: string): Html | string {
  const parts = text.split(/(?<![\w.:+-])(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)(?!\w)/);
  if (parts.length === 1) return text;
  // Every second part is a time.
  return html`${parts.map((part, index) => (index % 2 === 1 && !Number.isNaN(Date.parse(part)) ? timeAndAge(part) : part))}`;
}

/** A tag with its digest as the tooltip. */
export function tagOf(image: { readonly tag?: string | undefined; readonly digest?: string | undefined } | undefined): Html | string {
  if (image?.tag === undefined) return '–';
  return html`<code title=${image.digest && `${image.tag}@${image.digest}`}>${image.tag}</code>`;
}

/** A duration without words to translate: 320 ms, 12.4 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** One choice of a form. */
export function option(value: string, text: string, chosen: string | undefined): Html {
  return html`<option value=${value} selected=${value === (chosen ?? '')}>${text}</option>`;
}
