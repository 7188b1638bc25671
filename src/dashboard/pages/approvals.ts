import { isSameJson } from '../../core/model/untyped.ts';
import { baseReads, type BaseSummary } from '../../service/api/base-view.ts';
import type { PolicySummary } from '../../service/api/policy-view.ts';
import { getPolicies } from '../../service/api/routes/policies.ts';
import { choiceOf } from '../choices.ts';
import { baseActionPath } from '../base-action-list.ts';
import { html, type Html } from '../html.ts';
import { hasSection, type Page, type Rights } from '../page.ts';
import { approvalsOf } from '../parts/approvals-of.ts';
import { changesOf } from '../parts/changes-of.ts';
import { imagesOfPending } from '../parts/together.ts';
import { ago, baseLink, policyLink, tagOf } from '../parts/inline.ts';
import { ifPermitted, partOf, problem } from '../parts/problem.ts';
import { table } from '../parts/tables.ts';
import type { Texts } from '../texts/en.ts';

export const approvals: Page = {
  path: '/approvals',
  section: 'approvals',
  async show({ api, caller, query, texts }) {
    const readBases = hasSection(caller, 'bases') ? api.read(baseReads.list, { state: 'ApprovalRequired', limit: 500 }) : undefined;
    const [{ policies }, basesToApprove] = await Promise.all([
      api.read(getPolicies, { state: 'ApprovalRequired', limit: 500 }),
      readBases && ifPermitted(readBases),
    ]);
    const chosen = query.one('choose');
    const groups = groupsOf(policies);
    const show = async (rights: Rights) => {
      const isReadOnly = !policies.some((policy) => mayDecide(rights, policy));
      const why = caller.noActions ?? (isReadOnly && policies.length > 0 ? texts.notPermitted : undefined);
      return html`
        ${why !== undefined && html`<p class="note">${texts.readOnly} ${why}</p>`}
        ${query.one('none') !== undefined && problem(texts.noneChosen)}
        ${
          groups.length === 0
            ? html`<p class="none">${texts.nothingToApprove}</p>`
            : html`
                <form method="post" action="/approvals/confirm">
                  ${!isReadOnly && groups.length > 1 && html`<p><a href="/approvals?choose=*">${texts.chooseEverything}</a></p>`}
                  ${groups.map((group) => showGroup(group, { rights, isChosen: chosen === '*' || chosen === group.id }, texts))}
                  ${
                    !isReadOnly &&
                    html`<p class="actions">
                      <button class="primary" name="decision" value="approve">${texts.approveChosen}</button>
                      <button name="decision" value="reject">${texts.rejectChosen}</button>
                    </p>`
                  }
                </form>
              `
        }
        ${readBases && (await partOf(readBases, ({ bases }) => showBases(bases, rights, texts)))}
      `;
    };
    return {
      acted: { policies: policies.map(({ namespace }) => namespace), bases: basesToApprove?.bases.map(({ namespace }) => namespace) ?? [] },
      offer: async (rights) => ({ title: texts.approvals, body: await show(rights), isLive: true }),
    };
  },
};

/** Whether the user may approve or reject: both need the same. */
function mayDecide(rights: Rights, policy: { readonly namespace: string }, of?: 'bases'): boolean {
  return rights.may('approve', policy, of);
}

/** The policies for which the same image waits. */
interface Group {
  /** Identifies the group in an address: the repository and the digest. */
  readonly id: string;
  readonly policies: readonly [PolicySummary, ...PolicySummary[]];
}

/** The groups, those with the most policies first. */
function groupsOf(policies: readonly PolicySummary[]): Group[] {
  const byImage = Map.groupBy(
    policies,
    ({ image = '', pendingApproval }) => `${image}@${pendingApproval?.digest ?? pendingApproval?.tag ?? ''}`,
  );
  return [...byImage]
    .flatMap(([id, [first, ...others]]) => (first === undefined ? [] : [{ id, policies: [first, ...others] as const }]))
    .sort((a, b) => b.policies.length - a.policies.length);
}

function showGroup(
  { id, policies }: Group,
  { rights, isChosen }: { readonly rights: Rights; readonly isChosen: boolean },
  texts: Texts,
): Html {
  const [first] = policies;
  const decidable = policies.filter((policy) => mayDecide(rights, policy)).length;
  const { image, pendingApproval: pending } = first;
  const shared = policies.length > 1 && policies.every(({ changes }) => isSameJson(changes, first.changes)) ? first.changes : undefined;
  const all = `/approvals?${new URLSearchParams({ choose: id }).toString()}`;
  return html`
    <section class="waiting">
      <h2>${image}:${pending?.tag} <small class="digest">${pending?.digest}</small></h2>
      ${pending?.images !== undefined && html`<p class="note">${texts.together}:</p>`} ${imagesOfPending(first)}
      ${shared !== undefined && html`<p>${changesOf(shared, texts)}</p>`}
      ${decidable > 1 && html`<p><a href=${all}>${texts.chooseAll(decidable)}</a></p>`}
      <ul class="plain rows">
        ${policies.map((policy) => {
          const choice = choiceOf(policy);
          return html`<li class="choice">
            ${
              choice !== undefined &&
              mayDecide(rights, policy) &&
              html`<input
                type="checkbox"
                name="choice"
                value=${choice}
                checked=${isChosen}
                aria-label=${`${policy.namespace}/${policy.name} ${pending?.tag ?? ''}`}
              />`
            }
            <span>${policyLink(policy)}</span>
            <span><code>${policy.running ?? '–'}</code> → <code>${pending?.tag}</code></span>
            ${policy.targets !== undefined && html`<span class="note">${texts.workloads}: ${policy.targets.total}</span>`}
            <span class="note">${ago(policy.since)}</span>
            ${approvalsOf(policy, texts)} ${shared === undefined && changesOf(policy.changes, texts)}
          </li>`;
        })}
      </ul>
    </section>
  `;
}

/** The bases that wait. Each is approved on a page of its own, which says what follows. */
function showBases(bases: readonly BaseSummary[], rights: Rights, texts: Texts): Html {
  if (bases.length === 0) return html``;
  return html`
    <section>
      <h2>${texts.basesToApprove}</h2>
      ${table(
        [texts.base, texts.image, texts.since, texts.actions],
        bases.map((base) => [
          html`${baseLink(base)}<span class="repository">${base.image}</span>`,
          html`${tagOf(base.pendingApproval)} <small class="digest">${base.pendingApproval?.digest}</small> ${approvalsOf(base, texts)}
            ${changesOf(base.changes, texts)}`,
          ago(base.since),
          mayDecide(rights, base, 'bases') &&
            html`<a class="button" href=${baseActionPath(base, 'approve')}>${texts.approve}</a>${' '}<a
                class="button"
                href=${baseActionPath(base, 'reject')}
                >${texts.reject}</a
              >`,
        ]),
        '',
        texts.basesToApprove,
      )}
    </section>
  `;
}
