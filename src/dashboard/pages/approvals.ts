import { baseReads, type BaseSummary } from '../../service/api/base-view.ts';
import { getPolicies } from '../../service/api/routes/policies.ts';
import { choiceOf } from '../choices.ts';
import { baseActionPath } from '../base-action-list.ts';
import { html, type Html } from '../html.ts';
import { hasSection, type Page } from '../page.ts';
import { baseLink, policyLink, tagOf, time } from '../parts/inline.ts';
import { partOf, problem } from '../parts/problem.ts';
import { table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

export const approvals: Page = {
  path: '/approvals',
  section: 'approvals',
  async show({ api, caller, query, texts }) {
    const [{ policies }, basesToApprove] = await Promise.all([
      api.read(getPolicies, { state: 'ApprovalRequired', limit: 500 }),
      hasSection(caller, 'bases')
        ? partOf(api.read(baseReads.list, { state: 'ApprovalRequired', limit: 500 }), ({ bases }) => showBases(bases, texts))
        : undefined,
    ]);
    const isReadOnly = caller.noActions !== undefined;
    const body = html`
      ${isReadOnly && html`<p class="note">${texts.readOnly} ${caller.noActions}</p>`}
      ${query.one('none') !== undefined && problem(texts.noneChosen)}
      ${
        policies.length === 0
          ? html`<p class="none">${texts.nothingToApprove}</p>`
          : html`
              <form method="post" action="/approvals/confirm">
                <table class="cards">
                  <thead>
                    <tr>
                      ${[texts.chooseAll, texts.policy, texts.running, texts.image, texts.since].map((heading) => html`<th scope="col">${heading}</th>`)}
                    </tr>
                  </thead>
                  <tbody>
                    ${policies.map((policy) => {
                      const choice = choiceOf(policy);
                      const label = `${policy.namespace}/${policy.name} ${policy.pendingApproval?.tag ?? ''}`;
                      return html`
                        <tr>
                          <td data-label=${texts.chooseAll}>
                            ${choice !== undefined && !isReadOnly && html`<input type="checkbox" name="choice" value=${choice} aria-label=${label} />`}
                          </td>
                          <th scope="row">${policyLink(policy)}<span class="repository">${policy.image}</span></th>
                          <td data-label=${texts.running}><code>${policy.running ?? '–'}</code></td>
                          <td data-label=${texts.image}>
                            ${tagOf(policy.pendingApproval)} <small class="digest">${policy.pendingApproval?.digest}</small>
                          </td>
                          <td data-label=${texts.since}>${time(policy.since)}</td>
                        </tr>
                      `;
                    })}
                  </tbody>
                </table>
                ${!isReadOnly && html`<p><button>${texts.approveChosen}</button></p>`}
              </form>
            `
      }
      ${basesToApprove}
    `;
    return { title: texts.approvals, body, isLive: true };
  },
};

/** The bases that wait. Each is approved on a page of its own, which says what follows. */
function showBases(bases: readonly BaseSummary[], texts: Texts): Html {
  if (bases.length === 0) return html``;
  return html`
    <section>
      <h2>${texts.basesToApprove}</h2>
      ${table(
        [texts.base, texts.image, texts.since, texts.approve],
        bases.map((base) => [
          html`${baseLink(base)}<span class="repository">${base.image}</span>`,
          html`${tagOf(base.pendingApproval)} <small class="digest">${base.pendingApproval?.digest}</small>`,
          time(base.since),
          html`<a class="button" href=${baseActionPath(base, 'approve')}>${texts.approve}</a>`,
        ]),
        '',
        texts.basesToApprove,
      )}
    </section>
  `;
}
