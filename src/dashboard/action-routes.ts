/** The pages that ask to confirm an action, and the forms that execute it. */
import type { FastifyInstance } from 'fastify';
import { readApproval } from '../core/model/approval-link.ts';
import { getPermitted } from '../service/api/routes/permitted.ts';
import { getPolicies, getPolicy } from '../service/api/routes/policies.ts';
import {
  actionNames,
  actionPath,
  actionsFor,
  bodyOf,
  promotedBy,
  previousTags,
  type ActionName,
  type Permitted,
  type PolicyDetail,
} from './action-list.ts';
import { type Api, ApiFailure } from './api-client.ts';
import { parseChoice, type Choice } from './choices.ts';
import { html, type Html } from './html.ts';
import { bulkActions } from './parts/causes.ts';
import { confirmAll, type Decision } from './parts/confirm-all.ts';
import { changesOf } from './parts/changes-of.ts';
import { imagesOfPending } from './parts/together.ts';
import { option, policyLink, policyPath, tagOf } from './parts/inline.ts';
import type { Query } from './page.ts';
import { ifPermitted, problem } from './parts/problem.ts';
import { readRights } from './rights.ts';
import { reasonField, reasonOf } from './parts/reason-field.ts';
import { factList } from './parts/tables.ts';
import type { Texts } from './texts/en.ts';
import { type DashboardMeans, queryOf, sendPage, startVisit } from './visit.ts';

type Params = Readonly<Record<'namespace' | 'name', string>>;

/** Adds the routes of all actions to the app. */
export function addActionRoutes(app: FastifyInstance, means: DashboardMeans): void {
  for (const action of actionNames) {
    const path = `/policies/:namespace/:name/${action}`;
    app.get<{ Params: Params }>(path, async (request, reply) => {
      const { api, caller, texts, viewer } = await startVisit(request, means);
      const [found, permitted] = await Promise.all([
        api.read(getPolicy, request.params),
        ifPermitted(api.read(getPermitted, request.params)),
      ]);
      const link = queryOf(request.query).one('link');
      return sendPage(request, reply, viewer, {
        section: 'policies',
        title: titleOf(action, found, texts),
        body:
          whyNotLinked(found, link, means, texts) ??
          whyNotPermitted(found, action, { ...caller, ...permitted }, texts) ??
          confirm(found, action, permitted, texts),
      });
    });
    app.post<{ Params: Params }>(path, async (request, reply) => {
      const { api, texts, viewer } = await startVisit(request, means);
      try {
        await api.post(action, request.params, bodyOf(action, queryOf(request.body)));
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status === 401) throw error;
        const [found, permitted] = await Promise.all([
          ifPermitted(api.read(getPolicy, request.params)),
          ifPermitted(api.read(getPermitted, request.params)),
        ]);
        // The error is shown above the form, so that the user can try again.
        const body = html`${problem(error.message)}
        ${found === undefined ? linkTo(request.params) : confirm(found, action, permitted, texts)}`;
        const title = titleOf(action, request.params, texts);
        return sendPage(request, reply.code(error.status), viewer, { section: 'policies', title, body });
      }
      return reply.redirect(`${policyPath(request.params)}?done=${action}`, 303);
    });
  }
  // A rollback goes to the image before. An approval names its image, and has a form of its own.
  for (const action of bulkActions)
    app.post(`/policies/${action}`, async (request, reply) => {
      const { api, texts, viewer } = await startVisit(request, means);
      const form = queryOf(request.body);
      const named = form.all('policy').slice(0, maxChoices).flatMap(parseName);
      const body = { ...(action === 'rollback' && { to: 'previous' }), ...reasonOf(form) };
      const results: Html[] = [];
      for (const policy of named)
        results.push(await attempt(policyLink(policy), texts[action], () => api.post(action, policy, body), texts));
      return sendPage(request, reply, viewer, { section: 'now', title: texts[action], body: showResults(results, '/', texts.now) });
    });
  // A POST is used, because 500 choices do not fit into an address.
  app.post('/approvals/confirm', async (request, reply) => {
    const { api, caller, texts, viewer } = await startVisit(request, means);
    const form = queryOf(request.body);
    const decision = decisionOf(form);
    const choices = choicesIn(form.all('choice'));
    if (choices.length === 0) return reply.redirect('/approvals?none=1', 303);
    const rights = await readRights(api, caller, { policies: choices.map(({ namespace }) => namespace) });
    const waiting = await ifPermitted(api.read(getPolicies, { state: 'ApprovalRequired', limit: maxChoices }));
    const body = confirmAll(choices, waiting?.policies ?? [], { decision, rights }, texts);
    return sendPage(request, reply, viewer, { section: 'approvals', title: texts.approvals, body });
  });
  app.post('/approvals', async (request, reply) => {
    const { api, texts, viewer } = await startVisit(request, means);
    const form = queryOf(request.body);
    const choices = choicesIn(form.all('choice'));
    if (choices.length === 0) return reply.redirect('/approvals?none=1', 303);
    const results: Html[] = [];
    for (const choice of choices) results.push(await decide(api, choice, { decision: decisionOf(form), ...reasonOf(form) }, texts));
    const body = showResults(results, '/approvals', texts.approvals);
    return sendPage(request, reply, viewer, { section: 'approvals', title: texts.approvals, body });
  });
}

function titleOf(action: ActionName, { namespace, name }: Params, texts: Texts): string {
  return `${texts[action]}: ${namespace}/${name}`;
}

function linkTo(policy: Params): Html {
  return html`<p>${policyLink(policy)}</p>`;
}

/** The maximum number of choices in a form. Further ones are on the page after the form was sent. */
const maxChoices = 500;

/** The name of a policy in a form: `shop/web`; empty for any other text. */
function parseName(text: string): Params[] {
  const [, namespace, name] = /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})$/.exec(text) ?? [];
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
}

function choicesIn(texts: readonly string[]): Choice[] {
  return texts
    .slice(0, maxChoices)
    .map(parseChoice)
    .filter((choice) => choice !== undefined);
}

function showResults(results: readonly Html[], back: string, backText: string): Html {
  return html`
    <ul class="results">
      ${results.map((result) => html`<li>${result}</li>`)}
    </ul>
    <p><a href=${back}>${backText}</a></p>
  `;
}

/** What a form decides about its choices. */
function decisionOf(form: Query): Decision {
  return form.one('decision') === 'reject' ? 'reject' : 'approve';
}

/** Approves or rejects one choice. */
function decide(
  api: Api,
  { tag, digest, ...policy }: Choice,
  { decision, ...reason }: { readonly decision: Decision } & ReturnType<typeof reasonOf>,
  texts: Texts,
): Promise<Html> {
  const post = () => api.post(decision, policy, { tag, digest, ...reason });
  return attempt(html`${policyLink(policy)} <code>${tag}</code>`, texts[decision], post, texts);
}

/** Shows the result of an action. An error does not prevent the other actions. */
async function attempt(name: Html, label: string, post: () => Promise<void>, texts: Texts): Promise<Html> {
  try {
    await post();
    return html`${name}: ${texts.done(label)}`;
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status === 401) throw error;
    return html`${name} ${problem(error.message)}`;
  }
}

/** Why the link of a notification is not valid any more; undefined if it is valid, or without a link. A link approves one image only. */
function whyNotLinked(found: PolicyDetail, link: string | undefined, { linkSecret }: DashboardMeans, texts: Texts): Html | undefined {
  if (link === undefined || link === '') return undefined;
  const secret = linkSecret?.();
  const approval = secret === undefined ? undefined : readApproval(link, secret, Date.now());
  const isOfPolicy = approval?.namespace === found.namespace && approval.name === found.name && approval.uid === found.uid;
  if (approval === undefined || !isOfPolicy) return linkNote(found, texts.linkInvalid, texts);
  const { pendingApproval } = found;
  const waits = pendingApproval?.digest === approval.digest && pendingApproval.tag === approval.tag;
  return waits ? undefined : linkNote(found, texts.linkUsed(approval.tag), texts);
}

/** Why this user cannot request the action; undefined where nothing is known against it. */
function whyNotPermitted(
  found: PolicyDetail,
  action: ActionName,
  { noActions, actions = actionNames }: { readonly noActions?: string | undefined; readonly actions?: readonly ActionName[] },
  texts: Texts,
): Html | undefined {
  const why = noActions ?? (actions.includes(action) ? undefined : texts.notPermitted);
  return why === undefined ? undefined : linkNote(found, `${texts.readOnly} ${why}`, texts);
}

function linkNote(found: PolicyDetail, note: string, texts: Texts): Html {
  return html`
    <p class="note">${note}</p>
    <p><a href=${policyPath(found)}>${found.namespace}/${found.name}</a> · <a href="/approvals">${texts.approvals}</a></p>
  `;
}

function confirm(found: PolicyDetail, action: ActionName, permitted: Permitted, texts: Texts): Html {
  const { question, label, isPossible } = actionsFor(found, texts, permitted).find(({ name }) => name === action) ?? {
    question: '',
    label: action,
    isPossible: false,
  };
  if (!isPossible)
    return html`
      <p class="note">${texts.noEffect}</p>
      <p><a href=${policyPath(found)}>${texts.cancel}</a></p>
    `;
  const named = action === 'promote' ? promotedBy(found) : action === 'approve' || action === 'reject' ? found.pendingApproval : undefined;
  return html`
    <form method="post" action=${actionPath(found, action)} class="confirm">
      <p>${question}</p>
      ${showEffect(found, action, permitted, texts)}
      ${
        named !== undefined &&
        html`<input type="hidden" name="tag" value=${named.tag} /><input type="hidden" name="digest" value=${named.digest} />`
      }
      ${
        action === 'rollback' &&
        html`<label>
          ${texts.rollbackTo}
          <select name="to">
            ${option('previous', texts.previousImage(permitted?.previous?.tag), 'previous')}
            ${previousTags(found).map((tag) => option(tag, tag, 'previous'))}
          </select>
        </label>`
      }
      ${reasonField(texts, action === 'reject')}
      <p class="actions"><button class="primary">${label}</button> <a class="button" href=${policyPath(found)}>${texts.cancel}</a></p>
    </form>
  `;
}

/** What runs now, what will run or what is selected, and on which workloads. */
function showEffect(found: PolicyDetail, action: ActionName, permitted: Permitted, texts: Texts): Html {
  const { targets = [], targetCounts } = found.status;
  const names = [...new Set(targets.map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`))];
  const total = Math.max(targetCounts?.total ?? 0, names.length);
  const shown = names.slice(0, maxNamed);
  const next: Readonly<Partial<Record<ActionName, readonly [string, Html | string]>>> = {
    approve: [texts.willRun, tagOf(found.pendingApproval)],
    rollback: [texts.willRun, permitted?.previous === undefined ? texts.beforeOf : tagOf(permitted.previous)],
    promote: [texts.willRun, tagOf(promotedBy(found))],
    release: [texts.selected, tagOf(found.latest)],
    resume: [texts.selected, tagOf(found.latest)],
  };
  return factList([
    [texts.runsNow, found.running && html`<code>${found.running}</code>`],
    next[action] ?? ['', undefined],
    action === 'approve' || action === 'reject' ? [texts.together, imagesOfPending(found)] : ['', undefined],
    action === 'approve' || action === 'reject' ? [texts.commits, changesOf(found.changes, texts)] : ['', undefined],
    [
      `${texts.workloads}: ${total}`,
      total > 0 &&
        html`<ul class="plain">
          ${shown.map((name) => html`<li>${name}</li>`)} ${total > shown.length && html`<li>${texts.andMore(total - shown.length)}</li>`}
        </ul>`,
    ],
  ]);
}

/** The most workloads that a question names. */
const maxNamed = 10;
