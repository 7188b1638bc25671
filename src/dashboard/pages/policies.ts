import type { z } from 'zod';
import { policyOrders } from '../../service/api/policy-order.ts';
import { getPolicies } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Page, Query } from '../page.ts';
import { policyFilters } from '../parts/filters.ts';
import { option } from '../parts/inline.ts';
import { partOf } from '../parts/problem.ts';
import { policyTable } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

export const policies: Page = {
  path: '/policies',
  section: 'policies',
  async show({ api, query, texts }) {
    const filters = { search: query.one('search'), state: query.one('state'), namespace: query.one('namespace'), sort: query.one('sort') };
    // The filters stay if the list fails: a user who may list only some namespaces has to name one.
    const listed = await partOf(api.read(getPolicies, { ...filters, after: query.one('after'), limit: 100 }), (list) =>
      showList(list, { ...filters, after: query.one('after') }, texts),
    );
    const body = html`${policyFilters('/policies', query, texts, orderField(query, texts))} ${listed}`;
    return { title: texts.policies, body, isLive: true };
  },
};

interface Filters {
  readonly search: string | undefined;
  readonly state: string | undefined;
  readonly namespace: string | undefined;
  readonly sort: string | undefined;
  readonly after: string | undefined;
}

function showList(
  { policies: found, counts, next }: z.output<typeof getPolicies.answer>,
  { after, ...filters }: Filters,
  texts: Texts,
): Html {
  const { search, state, namespace } = filters;
  const total = Object.entries(counts).reduce((sum, [one, count]) => sum + (state === undefined || one === state ? count : 0), 0);
  const isFiltered = [search, state, namespace].some((filter) => filter !== undefined);
  return html`
    <p role="status">${texts.found(total)}</p>
    ${found.length > 0 ? policyTable(found, texts) : html`<p class="none">${isFiltered ? texts.noPolicies : texts.noPoliciesYet}</p>`}
    <p class="pages">
      ${after !== undefined && html`<a href=${addressWith(filters)}>${texts.first}</a>`}
      ${next !== undefined && html`<a rel="next" href=${addressWith({ ...filters, after: next })}>${texts.next}</a>`}
    </p>
  `;
}

function orderField(query: Query, texts: Texts): Html {
  const orderTexts = { name: texts.byName, state: texts.byAttention, changed: texts.byChange };
  return html`
    <label>
      ${texts.sort}
      <select name="sort">
        ${policyOrders.map((order) => option(order, orderTexts[order], query.one('sort') ?? 'name'))}
      </select>
    </label>
  `;
}

function addressWith(values: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `/policies?${new URLSearchParams(given).toString()}`;
}
