/** What stands within a line: links, states, times, tags. */
import type { PolicyState } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** The page of a policy. */
export function policyPath({ namespace, name }: Named): string {
  return `/policies/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export function policyLink(policy: Named): Html {
  return html`<a href=${policyPath(policy)}><span class="namespace">${policy.namespace}/</span>${policy.name}</a>`;
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

/** A time: in UTC as it is sent, and in the zone of the reader where the script of the page runs. */
export function time(at: string | undefined): Html | string {
  if (at === undefined || Number.isNaN(Date.parse(at))) return '–';
  return html`<time datetime=${at}>${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A tag; its digest is the tooltip. */
export function tagOf(image: { readonly tag?: string | undefined; readonly digest?: string | undefined } | undefined): Html | string {
  if (image?.tag === undefined) return '–';
  return html`<code title=${image.digest && `${image.tag}@${image.digest}`}>${image.tag}</code>`;
}

/** A duration in words that need no translation: 320 ms, 12.4 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** One choice of a form. */
export function option(value: string, text: string, chosen: string | undefined): Html {
  return html`<option value=${value} selected=${value === (chosen ?? '')}>${text}</option>`;
}
