/** The filters of the list of bases. */
import { policyStates } from '../../core/model/policy-state.ts';
import { html, type Html } from '../html.ts';
import type { Query } from '../page.ts';
import type { Texts } from '../texts/en.ts';
import { option } from './inline.ts';

/** A form that filters by text, namespace and state. */
export function policyFilters(action: string, query: Query, texts: Texts): Html {
  return html`
    <form class="filters" method="get" action=${action} role="search" data-instant>
      <label class="wide"
        >${texts.search} <input type="search" name="search" value=${query.one('search')} placeholder=${texts.searchHint} maxlength="256"
      /></label>
      <label
        >${texts.namespace}
        <input name="namespace" value=${query.one('namespace')} maxlength="63" pattern="[a-z0-9\\-]*" autocapitalize="none"
      /></label>
      <label>
        ${texts.state}
        <select name="state">
          ${option('', texts.anyState, query.one('state'))} ${policyStates.map((state) => option(state, texts[state], query.one('state')))}
        </select>
      </label>
      <button>${texts.apply}</button>
    </form>
  `;
}
