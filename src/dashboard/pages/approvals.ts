import { getPolicies } from '../../service/api/routes/policies.ts';
import { choiceOf } from '../choices.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { policyLink, tagOf, time } from '../parts/inline.ts';
import { problem } from '../parts/problem.ts';

export const approvals: Page = {
  path: '/approvals',
  section: 'approvals',
  async show({ api, caller, query, texts }) {
    const { policies } = await api.read(getPolicies, { state: 'ApprovalRequired', limit: 500 });
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
    `;
    return { title: texts.approvals, body, isLive: true };
  },
};
