/** Policies as a table with one line each, in groups. */
import type { PolicySummary } from '../../service/api/policy-view.ts';
import { isReason } from '../../core/model/reasons.ts';
import { reasonRules } from '../../service/causes/reason-rules.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, policyLink, stateBadge } from './inline.ts';
import type { Grouping } from './list-query.ts';
import { plainTo, reasonTo } from './said.ts';
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

function groupOf(policy: PolicySummary, group: Grouping, texts: Texts): string {
  const { namespace, image = '–', state, reason } = policy;
  if (group === 'namespace') return namespace;
  if (group === 'image') return image;
  return [texts[state], sharedCause(policy, texts) ?? reasonTo(reason, texts) ?? reason].filter((text) => text !== undefined).join(': ');
}

/** The cause that policies share, as the first page names it: a registry, an image, a namespace. Undefined if the cause is the policy's own, or there is none. */
function sharedCause({ namespace, image = '–', reason = '' }: PolicySummary, { causes }: Texts): string | undefined {
  const rule = isReason(reason) ? reasonRules[reason] : undefined;
  if (rule === undefined || rule.kind === 'policy') return undefined;
  const subjects = { registry: image.split('/')[0] ?? image, repository: image, image, namespace, installation: '' };
  const sentences: Readonly<Record<string, (subject: string) => string>> = causes.sentences;
  return sentences[rule.sameAs ?? reason]?.(subjects[rule.kind]);
}

function lineOf(policy: PolicySummary, texts: Texts): unknown[] {
  const { reason, message, state, since } = policy;
  const isTold = message !== undefined && (state !== 'Ready' || reason !== 'UpToDate');
  return [
    html`<span title=${policy.image}>${policyLink(policy)}</span>`,
    stateBadge(state, texts),
    runsAndWants(policy),
    isTold && html`<span class="reason" title=${message && plainTo(message, texts)}>${shorten(reasonTo(reason, texts) ?? message)}</span>`,
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
