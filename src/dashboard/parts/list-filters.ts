/** The filters of the list of policies, with how many policies each choice would show. */
import type { z } from 'zod';
import { policyStates } from '../../core/model/policy-state.ts';
import type { getPolicies } from '../../service/api/routes/policies.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { option } from './inline.ts';
import { groupings, type ListQuery } from './list-query.ts';
import { moreFilters } from './more-filters.ts';

type Choices = Pick<z.output<typeof getPolicies.answer>, 'counts' | 'facets'>;

/** Orders that a reader chooses. The others belong to groups. */
const orders = ['name', 'state', 'changed'] as const;

/** A form with the filters. `choices` is missing where the list cannot be read. */
export function listFilters(given: ListQuery, choices: Choices | undefined, texts: Texts): Html {
  const { namespaces = [], registries = [], labels = [] } = choices?.facets ?? {};
  const { digest, receiver, from, to } = given;
  const values: Readonly<Record<string, string | undefined>> = { digest, receiver, from, to };
  const times = { from: texts.happened.changedFrom, to: texts.happened.changedTo };
  const orderTexts = { name: texts.byName, state: texts.byAttention, changed: texts.byChange };
  const groupTexts = { cause: texts.byCause, namespace: texts.namespace, image: texts.image };
  return html`
    <form class="filters" method="get" action="/policies" role="search" data-instant>
      ${stateBoxes(given, choices, texts)}
      <label class="wide"
        >${texts.search} <input type="search" name="search" value=${given.search} placeholder=${texts.searchHint} maxlength="256"
      /></label>
      <label
        >${texts.namespace}
        <input
          name="namespace"
          value=${given.namespace}
          maxlength="63"
          pattern="[a-z0-9\\-]*"
          autocapitalize="none"
          list="namespaces"
        /><datalist id="namespaces">
          ${namespaces.map(({ value, count }) => html`<option value=${value}>${count}</option>`)}
        </datalist></label
      >
      ${facetField('registry', registries, given.registry, texts)} ${facetField('team', labels, given.team, texts)}
      <label
        >${texts.groupBy}
        <select name="group">
          ${option('', texts.notGrouped, given.group)} ${groupings.map((name) => option(name, groupTexts[name], given.group))}
        </select>
      </label>
      <label
        >${texts.sort}
        <select name="sort">
          ${orders.map((order) => option(order, orderTexts[order], given.sort ?? 'name'))}
        </select>
      </label>
      <button>${texts.apply}</button>
      ${moreFilters(['digest', 'receiver', 'from', 'to'], { one: (name) => values[name] }, texts, times)}
    </form>
  `;
}

function stateBoxes({ states }: ListQuery, choices: Choices | undefined, texts: Texts): Html {
  const shown = policyStates.filter((state) => states.includes(state) || (choices?.counts[state] ?? 0) > 0);
  return html`<fieldset class="states">
    <legend>${texts.state}</legend>
    ${shown.map(
      (state) =>
        html`<label
          ><input type="checkbox" name="state" value=${state} checked=${states.includes(state)} />${texts[state]}${' '}<b
            >${choices?.counts[state] ?? 0}</b
          ></label
        >`,
    )}
  </fieldset>`;
}

/** A choice among the values that policies have. It is left out where there is nothing to choose. */
function facetField(
  name: 'registry' | 'team',
  values: Choices['facets']['labels'],
  chosen: string | undefined,
  texts: Texts,
): Html | false {
  if (values.length < 2 && chosen === undefined) return false;
  const known = values.some(({ value }) => value === chosen) || chosen === undefined ? values : [{ value: chosen, count: 0 }, ...values];
  return html`<label
    >${texts[name]}
    <select name=${name}>
      ${option('', texts.anyOf, chosen)} ${known.map(({ value, count }) => option(value, `${value} (${count})`, chosen))}
    </select>
  </label>`;
}
