import { activityReads } from '../../service/api/activity-view.ts';
import { getCauses, type ShownCause } from '../../service/api/routes/causes.ts';
import { getEvents } from '../../service/api/routes/events.ts';
import { type BaseLink, baseReads } from '../../service/api/base-view.ts';
import { getPermitted } from '../../service/api/routes/permitted.ts';
import { getPods } from '../../service/api/routes/pods.ts';
import { explainPolicy, getPolicy } from '../../service/api/routes/policies.ts';
import { holdNow, type ActionName, actionNames, actionPath, actionsFor, type Permitted, type PolicyDetail } from '../action-list.ts';
import { html, type Html } from '../html.ts';
import { type Caller, hasActivity, hasSection, type Page, type Query } from '../page.ts';
import { actionResult } from '../parts/action-result.ts';
import { actionFor, causePath, causeSentence, showStep } from '../parts/causes.ts';
import { baseChain } from '../parts/dependents.ts';
import { environments } from '../parts/environments.ts';
import { explanation } from '../parts/explanation.ts';
import { showChecks } from '../parts/checks.ts';
import { changesOf } from '../parts/changes-of.ts';
import { imagesTogether } from '../parts/together.ts';
import { approvalsOf } from '../parts/approvals-of.ts';
import { ago, policyPath, stateBadge, tagOf, timeAndAge } from '../parts/inline.ts';
import { instructionFor } from '../parts/instruction.ts';
import { imagePath } from '../parts/place-query.ts';
import { ifPermitted, partOf, problem } from '../parts/problem.ts';
import { showPods } from '../parts/pods.ts';
import { type PushEvent, showPushWay } from '../parts/push-way.ts';
import { messageTo, plainTo, sayTo } from '../parts/said.ts';
import { runAndWant } from '../parts/run-and-want.ts';
import { conditionTable, factList, table } from '../parts/tables.ts';
import { timeline } from '../parts/timeline.ts';
import { showVulnerabilities } from '../parts/vulnerabilities.ts';
import type { Texts } from '../texts/en.ts';

export const policy: Page = {
  path: '/policies/:namespace/:name',
  section: 'policies',
  // Pods and their logs are read with the token of the user.
  isPersonal: true,
  async show({ api, params, query, caller, texts }) {
    const push = query.one('push');
    const key = `${params['namespace']}/${params['name']}`;
    const hasBases = hasSection(caller, 'bases');
    const planned = api.read(explainPolicy, { ...params });
    const asked = push === undefined ? planned : api.read(explainPolicy, { ...params, push });
    const reading = api.read(getPolicy, params);
    const permitting = caller.noActions === undefined ? ifPermitted(api.read(getPermitted, params)) : Promise.resolve(undefined);
    const offeredTo = (permitted: Permitted) => ({ ...caller, permitted, actions: permitted?.actions ?? actionNames });
    const [found, permitted, now, explained, pushes, requests, { causes }, chain] = await Promise.all([
      reading,
      permitting,
      ifPermitted(planned),
      partOf(Promise.all([asked, reading, permitting]), ([steps, found, permitted]) =>
        explanation(steps, (message) => instructed(message, found, offeredTo(permitted), texts), texts),
      ),
      ifPermitted(api.read(getEvents, { policy: key, limit: 50 })),
      hasActivity(caller) ? ifPermitted(api.read(activityReads.list, { policy: key, type: 'action', limit: 50 })) : undefined,
      api.read(getCauses, { policy: key }),
      hasBases ? partOf(api.read(baseReads.chain, params), ({ bases }) => showChain(bases, texts)) : undefined,
    ]);
    const pods = isUnfinished(found) ? await partOf(api.read(getPods, params), ({ workloads }) => showPods(workloads, texts)) : undefined;
    const actions = (requests?.activity ?? []).filter((one) => one.type === 'action');
    const offered = offeredTo(permitted);
    const body = html`
      ${showResult(query, found, texts)} ${showVerdict(found, causes, offered, texts)} ${showActions(found, causes, offered, texts)}
      <div class="beside">
        <section>
          <h2>${texts.now}</h2>
          ${runAndWant(found, now, texts)} ${showNow(found, texts)}
        </section>
        ${showChecks(found, texts)} ${showVulnerabilities(found, texts)} ${pods}
        ${showLastPush(pushes?.events ?? [], found, offered, texts)}
        <section>
          <h2>${texts.history}</h2>
          ${timeline(found.status.history ?? [], { pushes: pushes?.events ?? [], actions, commits: found.commits }, found, texts)}
          ${hasActivity(caller) && html`<p><a href=${`/activity?${ofPolicy(found)}`}>${texts.happened.ofPolicy}</a></p>`}
        </section>
        ${chain}
      </div>
      ${environments(found.environments, texts)}
      <section id="explanation">
        <h2>${texts.explanation}</h2>
        <form class="filters" method="get" action="#explanation">
          <label class="wide"
            >${texts.explainPush} <input name="push" value=${push} placeholder=${texts.explainHint} maxlength="512"
          /></label>
          <button>${texts.explain}</button>
        </form>
        ${explained}
      </section>
      <details id="targets">
        <summary>${texts.targets}: ${found.targets?.total ?? 0}</summary>
        ${showTargets(found, texts)}
      </details>
      <details id="conditions">
        <summary>${texts.conditions}</summary>
        ${conditionTable(
          found.conditions.map((one) => ({ ...one, message: instructed(one.message, found, offered, texts) })),
          texts,
        )}
      </details>
      <p><a href=${`${policyPath(found)}/yaml`}>${texts.yaml}</a></p>
    `;
    return { title: `${found.namespace}/${found.name}`, body, isLive: true, follows: { namespace: found.namespace, name: found.name } };
  },
};

/** The user, and the actions that the user may request of the policy. */
type Offered = Caller & { readonly permitted: Permitted; readonly actions: readonly ActionName[] };

/** The state, and the one thing to do where there is something. */
function showVerdict(found: PolicyDetail, causes: readonly ShownCause[], caller: Offered, texts: Texts): Html {
  const [cause] = causes;
  const said = (text: string) => instructed(text, found, caller, texts);
  if (cause === undefined)
    return html`<p>${stateBadge(found.state, texts)} ${messageTo(found.reason, found.message && said(found.message), texts)}</p>`;
  const { rollouts, message, reason, since } = cause;
  return html`
    <div class="why-not">
      <p>${stateBadge(found.state, texts)} <b>${causeSentence(cause, texts)}</b>${' '}<span class="note">${ago(since)}</span></p>
      ${rollouts !== undefined && html`<p class="rollouts">${texts.causes.rollouts(rollouts.rolledBack, rollouts.running)}</p>`}
      <p class="why">${messageTo(reason, message && said(message), texts)}</p>
      <p class="step">
        ${showStep(cause, { noActions: whyNotStep(cause, caller, texts) }, texts)}${' · '}<a href=${causePath(cause)}>${texts.sameCause}</a>
      </p>
    </div>
  `;
}

/** A message without instructions for what this user has a button for. */
function instructed(message: string, found: PolicyDetail, { noActions, permitted, actions }: Offered, texts: Texts): string {
  const possible = actionsFor(found, texts, permitted).filter(({ name, isPossible }) => isPossible && actions.includes(name));
  return instructionFor(message, found, (action) => noActions === undefined && possible.some(({ name }) => name === action));
}

/** Why the step of a cause is no button for this user. */
function whyNotStep(cause: ShownCause, { noActions, actions }: Offered, texts: Texts): string | undefined {
  const action = actionFor(cause);
  return noActions ?? (action === undefined || actions.includes(action) ? undefined : texts.notPermitted);
}

/** Whether a rollout has not come to its end, so that its pods say why. */
function isUnfinished({ rollouts }: Pick<PolicyDetail, 'rollouts'>): boolean {
  return rollouts !== undefined && rollouts.failed + rollouts.progressing > 0;
}

/** The way of the last push that is known, as far as the caller may see it. */
function showLastPush([last]: readonly PushEvent[], found: PolicyDetail, offered: Offered, texts: Texts): Html {
  if (last === undefined) return html``;
  return html`
    <section id="push">
      <h2>${texts.lastPushWay}</h2>
      ${showPushWay(last, found, (message) => instructed(message, found, offered, texts), texts)}
      <p><a href=${`/events?${ofPolicy(found)}`}>${texts.allOfPolicy}</a></p>
    </section>
  `;
}

/** The query of a list that is filtered by a policy. */
function ofPolicy({ namespace, name }: PolicyDetail): string {
  return new URLSearchParams({ policy: `${namespace}/${name}` }).toString();
}

/** Shows the bases that the images are built on, if there are any. */
function showChain(bases: readonly BaseLink[], texts: Texts): Html {
  if (bases.length === 0) return html``;
  return html`
    <section id="bases">
      <h2>${texts.chain}</h2>
      ${baseChain(bases, texts)}
    </section>
  `;
}

/** Shows the result of the action from which the user returns. */
function showResult(query: Query, found: PolicyDetail, texts: Texts): Html | undefined {
  const action = actionNames.find((name) => name === query.one('done'));
  return action && actionResult(action, found, texts);
}

/** A button for each action that would have an effect and that the user may request, except the one that the verdict has. */
function showActions(found: PolicyDetail, [cause]: readonly ShownCause[], { noActions, permitted, actions }: Offered, texts: Texts): Html {
  if (noActions !== undefined) return html`<p class="note">${texts.readOnly} ${noActions}</p>`;
  const step = cause && actionFor(cause);
  const shown = actionsFor(found, texts, permitted).filter(({ name, isPossible }) => isPossible && actions.includes(name) && name !== step);
  return html`
    ${
      actions.length === 0
        ? html`<p class="note">${texts.readOnly} ${texts.notPermitted}</p>`
        : html`<p class="actions" role="group" aria-label=${texts.actions}>
            ${shown.map(({ name, label }) => html`<a class="button" href=${actionPath(found, name)}>${label}</a>`)}
          </p>`
    }
    ${found.requested !== undefined && html`<p class="note">${texts.requestedBy(texts[found.requested.action], found.requested.user, found.requested.reason)}</p>`}
  `;
}

function showNow(found: PolicyDetail, texts: Texts): Html {
  const { pendingApproval, waiting, rollouts, status } = found;
  const hold = holdNow(found);
  const rows: [string, unknown][] = [
    [texts.image, found.image && html`<a href=${imagePath({ repository: found.image })}><code>${found.image}</code></a>`],
    [texts.selects, found.selects && sayTo(undefined, found.selects, texts)],
    [texts.mode, found.mode && texts.modes[found.mode]],
    [texts.waitsForApproval, pendingApproval && html`${tagOf(pendingApproval)}${' '}${approvalsOf(found, texts)}`],
    [texts.together, imagesTogether(found)],
    [texts.commits, changesOf(found.changes, texts)],
    [texts.onHold, hold && html`${hold.at !== undefined && ago(hold.at)} ${hold.user} ${hold.reason}`],
    [texts.Waiting, waiting && html`${tagOf(waiting)} ${waiting.reason} ${timeAndAge(waiting.until)}`],
    [texts.rollingOut, rollouts && rollouts.progressing > 0 && rollouts.progressing],
    [texts.lastCheck, typeof status.lastCheckTime === 'string' && ago(status.lastCheckTime)],
  ];
  return html`${factList(rows)} ${found.image === undefined && problem(plainTo(found.message ?? '', texts))}`;
}

function showTargets({ status: { targets = [] } }: PolicyDetail, texts: Texts): Html {
  return table(
    [texts.workload, texts.container, texts.image, texts.state],
    targets.map(({ kind, namespace, name, container, image, state, message }) => [
      `${kind} ${namespace}/${name}`,
      container ?? '–',
      html`<code>${image ?? '–'}</code>`,
      html`${state} <span class="why">${messageTo(undefined, message, texts)}</span>`,
    ]),
  );
}
