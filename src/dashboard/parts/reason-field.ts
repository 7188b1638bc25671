/** The field of a form in which a user says why. */
import { maxReason } from '../../core/model/policy-actions.ts';
import { html, type Html } from '../html.ts';
import type { Query } from '../page.ts';
import type { Texts } from '../texts/en.ts';

export function reasonField(texts: Texts, isRequired = false): Html {
  const hint = isRequired ? texts.whyActsNeeded : texts.whyActsHint;
  return html`<label class="wide"
    >${texts.whyActs} <input name="reason" maxlength=${maxReason} placeholder=${hint} required=${isRequired}
  /></label>`;
}

/** The reason of a form, as the body of an action has it. */
export function reasonOf(form: Query): { readonly reason?: string } {
  const reason = form.one('reason')?.trim() ?? '';
  return reason === '' ? {} : { reason };
}
