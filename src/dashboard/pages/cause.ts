import { getCauses } from '../../service/api/routes/causes.ts';
import { getPermitted } from '../../service/api/routes/permitted.ts';
import { getPolicy } from '../../service/api/routes/policies.ts';
import { type Api, ApiFailure } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import type { Page, Rights } from '../page.ts';
import { readRights } from '../rights.ts';
import { actedBy, actionFor, causeSentence, isForAll, showStep, urgencyBadge, whyNoStep } from '../parts/causes.ts';
import { ago, baseLink, policyLink, tagOf } from '../parts/inline.ts';
import { ifPermitted } from '../parts/problem.ts';
import { sayTo } from '../parts/said.ts';
import { reasonField } from '../parts/reason-field.ts';
import type { Texts } from '../texts/en.ts';
import type { ShownCause } from '../../service/api/routes/causes.ts';

/** One cause with all policies that it reaches. */
export const cause: Page = {
  path: '/cause',
  section: 'now',
  // The page offers what the user may do.
  isPersonal: true,
  async show({ api, query, caller, texts }) {
    const id = query.one('id');
    if (id === undefined) throw new ApiFailure(404, texts.noPage);
    const { causes } = await api.read(getCauses, { id });
    const [found] = causes;
    if (found === undefined) return { title: texts.causes.gone, body: html`<p><a href="/">${texts.backToNow}</a></p>`, isLive: true };
    const { urgency, message, said, since, rollouts } = found;
    const rights = await readRights(api, caller, { policies: actedBy(found) });
    const noActions = whyNoStep(found, caller, rights, texts);
    const action = actionFor(found);
    const isActing = action !== undefined && isForAll(action) && noActions === undefined && found.policies > 1;
    const body = html`
      <p>
        ${urgencyBadge(urgency, texts)}${' '}${rollouts !== undefined && texts.causes.rollouts(rollouts.rolledBack, rollouts.running)}${' '}
        ${since !== undefined && html`<span class="note">${ago(since)}</span>`}
      </p>
      <p>${sayTo(said, message, texts)}</p>
      ${
        !isActing &&
        html`<h2>${texts.causes.whatToDo}</h2>
          <p>${showStep(found, { noActions }, texts)}</p>`
      }
      ${found.named.length > 0 && html`<h2>${texts.causes.reached}: ${texts.causes.reach(found.policies, found.namespaces)}</h2>`}
      ${isActing ? showChoices(found, { effects: await readEffects(found, api), rights }, texts) : showNames(found)}
    `;
    return { title: causeSentence(found, texts), body, isLive: true };
  },
};

function showNames({ kind, named }: ShownCause): Html {
  return html`<ul class="plain rows">
    ${named.map((one) => html`<li>${kind === 'base' ? baseLink(one) : policyLink(one)}</li>`)}
  </ul>`;
}

/** What a policy runs, and what a rollback would bring back to it. */
interface Effect {
  readonly running?: string | undefined;
  readonly previous?: { readonly tag: string; readonly digest?: string } | undefined;
}

/** The most policies of which the page says what a rollback changes. */
const maxEffects = 10;

/** Reads the effects of a rollback, by policy. Other actions change nothing by themselves. */
async function readEffects(found: ShownCause, api: Api): Promise<ReadonlyMap<string, Effect>> {
  if (actionFor(found) !== 'rollback') return new Map();
  const named = found.named.filter(({ runsFailed }) => runsFailed === true).slice(0, maxEffects);
  const read = async ({ namespace, name }: { readonly namespace: string; readonly name: string }) => {
    const [policy, permitted] = await Promise.all([
      ifPermitted(api.read(getPolicy, { namespace, name })),
      ifPermitted(api.read(getPermitted, { namespace, name })),
    ]);
    return [`${namespace}/${name}`, { running: policy?.running, previous: permitted?.previous }] as const;
  };
  return new Map(await Promise.all(named.map(read)));
}

/** The policies with boxes to choose: the action is done for each that is chosen. Only what still runs a failed image is rolled back. */
function showChoices(
  found: ShownCause,
  { effects, rights }: { readonly effects: ReadonlyMap<string, Effect>; readonly rights: Rights },
  texts: Texts,
): Html {
  const action = actionFor(found) ?? 'check';
  return html`
    <form method="post" action=${`/policies/${action}`}>
      <ul class="plain rows">
        ${found.named.map(({ namespace, name, runsFailed }) => {
          const key = `${namespace}/${name}`;
          const effect = effects.get(key);
          const isPermitted = rights.may(action, { namespace });
          const isOffered = (action !== 'rollback' || runsFailed === true) && isPermitted;
          return html`<li class="choice">
            <input type="checkbox" name="policy" value=${key} checked=${isOffered} disabled=${!isOffered} aria-label=${key} />
            ${policyLink({ namespace, name })}
            ${effect !== undefined && html`<span><code>${effect.running ?? '–'}</code>${' → '}${tagOf(effect.previous)}</span>`}
            ${!isPermitted && html`<span class="note">${texts.notPermitted}</span>`}
          </li>`;
        })}
      </ul>
      ${reasonField(texts)}
      <p><button class="primary">${texts.causes.actOnChosen(texts[action])}</button></p>
    </form>
  `;
}
