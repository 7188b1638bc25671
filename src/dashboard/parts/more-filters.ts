/** Filters that are folded until one of them is used: for those who look for something in particular. */
import { eventOutcomes } from '../../service/api/event-view.ts';
import { html, type Html } from '../html.ts';
import type { Query } from '../page.ts';
import type { Texts } from '../texts/en.ts';
import { option } from './inline.ts';

/** The filters of which pages have some. */
export const filterNames = ['namespace', 'label', 'user', 'receiver', 'outcome', 'digest', 'from', 'to'] as const;
export type FilterName = (typeof filterNames)[number];

const attributes = {
  namespace: { placeholder: 'shop', maxlength: 63 },
  label: { placeholder: 'team=shop', maxlength: 400 },
  user: { maxlength: 253 },
  receiver: { maxlength: 63 },
  digest: { placeholder: 'sha256:…', maxlength: 71 },
} as const;

/** The fields with these names, with the values that the address has. */
export function moreFilters(
  names: readonly FilterName[],
  query: Pick<Query, 'one'>,
  texts: Texts,
  times: { readonly from: string; readonly to: string } = { from: texts.fromUtc, to: texts.toUtc },
): Html {
  const { happened } = texts;
  const labels = {
    namespace: texts.namespace,
    label: happened.label,
    user: happened.user,
    receiver: texts.receiver,
    digest: happened.digest,
  };
  const fieldOf = (name: FilterName): Html => {
    const value = query.one(name);
    if (name === 'from' || name === 'to')
      return html`<label>${times[name]} <input type="datetime-local" name=${name} value=${value} /></label>`;
    if (name === 'outcome')
      return html`<label
        >${texts.outcome}
        <select name="outcome">
          ${option('', texts.anyOutcome, value)} ${eventOutcomes.map((one) => option(one, texts.outcomes[one], value))}
        </select></label
      >`;
    return html`<label>${labels[name]} <input name=${name} value=${value} autocapitalize="none" ...${attributes[name]} /></label>`;
  };
  return html`
    <details class="more" open=${names.some((name) => query.one(name) !== undefined)}>
      <summary>${happened.more}</summary>
      <div class="filters">${names.map(fieldOf)}</div>
    </details>
  `;
}
