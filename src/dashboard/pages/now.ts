import type { z } from 'zod';
import { getCauses } from '../../service/api/routes/causes.ts';
import { getOverview } from '../../service/api/routes/installation.ts';
import { getPolicies } from '../../service/api/routes/policies.ts';
import { baseReads, type BaseSummary } from '../../service/api/base-view.ts';
import type { PolicySummary } from '../../service/api/policy-view.ts';
import type { Api } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import { type Caller, hasSection, type Page, type Rights } from '../page.ts';
import { actedBy, showCause, whyNoStep } from '../parts/causes.ts';
import { figures } from '../parts/figures.ts';
import { ago, baseLink, policyLink, tagOf } from '../parts/inline.ts';
import { ifPermitted, partOf } from '../parts/problem.ts';
import type { Texts } from '../texts/en.ts';

type Causes = z.output<typeof getCauses.answer>;

/** The maximum number of policies in each short list. */
const shown = 5;

/** What is wrong and what to do, what waits for somebody, what is under way, and what has just changed. */
export const now: Page = {
  path: '/',
  section: 'now',
  async show({ api, caller, texts }) {
    const found = await api.read(getCauses);
    // Each part is shown, or says why it cannot be read: without Redis, only the figures are missing.
    const waiting = api.read(getPolicies, { state: 'ApprovalRequired', limit: shown, sort: 'changed' });
    const bases = hasSection(caller, 'bases') ? api.read(baseReads.list, { state: 'ApprovalRequired', limit: shown }) : undefined;
    const [approvable, waitingBases, activity, ...parts] = await Promise.all([
      ifPermitted(waiting),
      bases && ifPermitted(bases),
      partOf(api.read(getOverview), (overview) => figures(overview, texts)),
      partOf(api.read(getPolicies, { state: 'Progressing', limit: shown, sort: 'changed' }), (list) => showRolling(list, texts)),
      partOf(readChanged(api), (changed) => showChanged(changed, texts)),
    ]);
    return {
      acted: { policies: [...(approvable?.policies ?? []).map(({ namespace }) => namespace), ...found.causes.flatMap(actedBy)] },
      offer: async (rights) => {
        const own = { ...caller, rights };
        const body = html`
          ${verdict(found, texts)} ${showCauses(found, own, texts)}
          <div class="columns">
            ${await partOf(waiting, (list) => showWaiting(list, waitingBases?.bases ?? [], { own, texts }))} ${parts}
          </div>
          ${activity}
        `;
        return { title: texts.now, body, isLive: true, followed: ['policies', 'pushes', 'activity', 'refusals'] };
      },
    };
  },
};

/** The user, and what he may do. */
type Own = Pick<Caller, 'noActions'> & { readonly rights: Rights };

function verdict({ at, causes, policies: { total, affected, namespaces }, installation }: Causes, { causes: texts }: Texts): Html {
  const passing = causes.filter(({ urgency }) => urgency === 'Passing');
  const urgent = causes.length - passing.length;
  const waiting = passing.reduce((sum, { policies }) => sum + policies, 0);
  const text =
    total === 0 && urgent === 0
      ? texts.noPolicies
      : urgent > 0
        ? texts.verdict(urgent, affected, total, namespaces)
        : waiting > 0
          ? texts.waits(waiting, total)
          : texts.allWell(total);
  return html`
    <p class=${`verdict ${urgent > 0 ? 'bad' : waiting > 0 ? '' : 'good'}`} role="status">${text}</p>
    <p class="note" data-again=${installation !== undefined && '30'}>
      ${texts.asOf}${' '}${ago(at)}${
        installation !== undefined &&
        html`; ${installation.checkedAt === undefined ? texts.doctorPending : html`${texts.doctorAsOf}${' '}${ago(installation.checkedAt)}`}`
      }
    </p>
  `;
}

function showCauses({ causes, more }: Causes, caller: Own, texts: Texts): Html {
  const [urgent, passing] = [causes.filter(({ urgency }) => urgency !== 'Passing'), causes.filter(({ urgency }) => urgency === 'Passing')];
  return html`
    ${urgent.length > 0 && list(urgent, caller, texts)}
    ${
      passing.length > 0 &&
      (urgent.length === 0
        ? list(passing, caller, texts)
        : html`<details id="passing">
            <summary>${texts.causes.passing(passing.length)}</summary>
            ${list(passing, caller, texts)}
          </details>`)
    }
    ${more > 0 && html`<p class="note">${texts.causes.more(more)}</p>`}
  `;
}

function list(causes: Causes['causes'], caller: Own, texts: Texts): Html {
  return html`<ol class="causes">
    ${causes.map((cause) => showCause(cause, { noActions: whyNoStep(cause, caller, caller.rights, texts) }, texts))}
  </ol>`;
}

type List = z.output<typeof getPolicies.answer>;

function shortList<T extends PolicySummary | BaseSummary>(
  title: Html | string,
  policies: readonly T[],
  row: (policy: T) => Html,
  rest: Html | false,
): Html {
  if (policies.length === 0) return html``;
  return html`
    <section>
      <h2>${title}</h2>
      <ul class="plain rows">
        ${policies.map((policy) => html`<li>${row(policy)}</li>`)}
      </ul>
      ${rest}
    </section>
  `;
}

function showWaiting(
  { policies, counts }: List,
  bases: readonly BaseSummary[],
  { own: { rights }, texts }: { readonly own: Own; readonly texts: Texts },
): Html {
  const count = counts.ApprovalRequired ?? 0;
  if (count === 0) return showWaitingBases(bases, texts);
  return shortList(
    texts.waitsForApproval,
    policies,
    (policy) =>
      html`${policyLink(policy)} <code>${policy.running ?? '–'}</code> → ${tagOf(policy.pendingApproval)}${' '}<small
          >${ago(policy.since)}</small
        >`,
    html`<p>
      <a class="button" href="/approvals">${texts.approvals}: ${count + bases.length}</a>${' '}
      ${count > 1 && policies.some((policy) => rights.may('approve', policy)) && html`<a class="button" href="/approvals?choose=*">${texts.approveAll(count)}</a>`}
    </p>`,
  );
}

/** The bases that wait for approval, where no image does: otherwise the button counts them, and its page shows them. */
function showWaitingBases(bases: readonly BaseSummary[], texts: Texts): Html {
  return shortList(
    texts.basesToApprove,
    bases,
    (base) => html`${baseLink(base)} ${tagOf(base.pendingApproval)}${' '}<small>${ago(base.since)}</small>`,
    html`<p><a class="button" href="/approvals">${texts.approvals}: ${bases.length}</a></p>`,
  );
}

function showRolling({ policies, counts }: List, texts: Texts): Html {
  const count = counts.Progressing ?? 0;
  return shortList(
    texts.rollingOut,
    policies,
    (policy) => {
      const { progressing = 0, done = 0 } = policy.rollouts ?? {};
      const total = progressing + done;
      return html`${policyLink(policy)}${' → '}${tagOf(policy.latest)}${' '}${total > 1 && html`<small>${texts.rolloutsOf(done, total)}</small><progress value=${done} max=${total} aria-label=${texts.rollingOut}></progress>`}`;
    },
    count > policies.length && html`<p><a href="/policies?state=Progressing">${texts.all(count)}</a></p>`,
  );
}

async function readChanged(api: Api): Promise<readonly PolicySummary[]> {
  const { policies } = await api.read(getPolicies, { sort: 'changed', limit: shown });
  return policies.filter(({ lastChangeAt }) => lastChangeAt !== undefined);
}

function showChanged(policies: readonly PolicySummary[], texts: Texts): Html {
  return shortList(
    html`${texts.causes.changedLately}${' '}<a href="/policies?sort=changed">${texts.policies}</a>`,
    policies,
    (policy) => html`${policyLink(policy)} <code>${policy.running ?? '–'}</code> <small>${ago(policy.lastChangeAt)}</small>`,
    false,
  );
}
