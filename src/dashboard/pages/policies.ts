import type { z } from 'zod';
import { getPolicies } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { utcOf } from '../parts/activity-query.ts';
import { addressWith, readListQuery, type ListQuery } from '../parts/list-query.ts';
import { listFilters } from '../parts/list-filters.ts';
import { policyLines } from '../parts/policy-lines.ts';
import { partOf } from '../parts/problem.ts';
import type { Texts } from '../texts/en.ts';

export const policies: Page = {
  path: '/policies',
  section: 'policies',
  async show({ api, query, texts, settings }) {
    const given = readListQuery(query);
    const read = api.read(getPolicies, { ...requestOf(given, settings.teamLabel), after: given.after, limit: 100 });
    // The filters stay if the list fails: a user who may list only some namespaces has to name one.
    const choices = await read.catch(() => undefined);
    const listed = await partOf(read, (list) => showList(list, given, texts));
    return { title: texts.policies, body: html`${listFilters(given, choices, texts)} ${listed}`, isLive: true };
  },
};

/** The query of the API for a query of the page. */
export function requestOf(
  { states, search, namespace, registry, team, digest, receiver, from, to, group, sort }: ListQuery,
  teamLabel: string,
) {
  return {
    search,
    namespace,
    registry,
    digest,
    receiver,
    since: utcOf(from),
    until: utcOf(to),
    state: states.join(','),
    label: team === undefined ? teamLabel : `${teamLabel}=${team}`,
    sort: group === undefined ? sort : orderOf[group],
  };
}

/** The order in which the policies of a group follow each other. */
const orderOf = { cause: 'reason', namespace: 'name', image: 'image' } as const;

function showList({ policies: found, counts, next }: z.output<typeof getPolicies.answer>, given: ListQuery, texts: Texts): Html {
  const { states, after, group } = given;
  const total = Object.entries(counts).reduce((sum, [one, count]) => sum + (states.length === 0 || states.includes(one) ? count : 0), 0);
  const isFiltered = addressWith('', { ...given, group: undefined, sort: undefined, after: undefined }) !== '';
  return html`
    <p role="status" class="found">
      <span>${texts.found(total)}</span>
      <a href=${addressWith('/policies.csv', { ...given, after: undefined })} download="policies.csv">CSV</a>
    </p>
    ${found.length > 0 ? policyLines(found, { group, isWhole: after === undefined && next === undefined }, texts) : html`<p class="none">${isFiltered ? texts.noPolicies : texts.noPoliciesYet}</p>`}
    <p class="pages">
      ${after !== undefined && html`<a href=${addressWith('/policies', { ...given, after: undefined })}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressWith('/policies', { ...given, after: next })}>${texts.next}</a>`}
    </p>
  `;
}
