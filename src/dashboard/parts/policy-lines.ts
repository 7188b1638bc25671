/** Policies as a table with one line each, in groups. */
import type { PolicySummary } from '../../service/api/policy-view.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, policyLink, stateBadge } from './inline.ts';
import type { Grouping } from './list-query.ts';
import { reasonTo } from './said.ts';
import { table } from './tables.ts';

const maxReason = 60;

/** The policies of a page, which are sorted by their group. Only of a list on one page (`isWhole`) is it known how many a group has. */
export function policyLines(
  policies: readonly PolicySummary[],
  { group, isWhole }: { readonly group: Grouping | undefined; readonly isWhole: boolean },
  texts: Texts,
): Html {
  const headings = [texts.policy, texts.state, texts.runsAndWants, texts.reason, texts.since];
  const lines = (some: readonly PolicySummary[], caption?: string) =>
    table(
      headings,
      some.map((policy) => lineOf(policy, texts)),
      'lines',
      caption ?? texts.policies,
    );
  if (group === undefined) return lines(policies);
  const groups = [...Map.groupBy(policies, (policy) => groupOf(policy, group, texts))];
  return html`${groups.map(
    ([name, some]) =>
      html`<h2 class="group">${name} ${isWhole && html`<small>${some.length}</small>`}</h2>
        ${lines(some, name)}`,
  )}`;
}

function groupOf({ namespace, image = '–', state, reason }: PolicySummary, group: Grouping, texts: Texts): string {
  if (group === 'namespace') return namespace;
  return group === 'image' ? image : [texts[state], reason].filter((text) => text !== undefined).join(': ');
}

function lineOf(policy: PolicySummary, texts: Texts): unknown[] {
  const { reason, message, state, since } = policy;
  const isTold = message !== undefined && (state !== 'Ready' || reason !== 'UpToDate');
  return [
    html`<span title=${policy.image}>${policyLink(policy)}</span>`,
    stateBadge(state, texts),
    runsAndWants(policy),
    isTold && html`<span class="reason" title=${message}>${shorten(reasonTo(reason, texts) ?? message)}</span>`,
    ago(since),
  ];
}

/** What runs and, where that is something else or nothing, what is selected. */
function runsAndWants({ running = '–', latest }: PolicySummary): Html {
  const isSame = running === (latest?.tag ?? '–');
  return html`<code title=${isSame ? latest?.digest : undefined}>${running}</code
    >${!isSame && html` → <code title=${latest?.digest}>${latest?.tag ?? '–'}</code>`}`;
}

function shorten(text: string): string {
  return text.length <= maxReason ? text : `${text.slice(0, maxReason - 1).trimEnd()}…`;
}
