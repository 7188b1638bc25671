/** The pages that ask to confirm an action on the policy of a base, and the forms that execute it. */
import type { FastifyInstance } from 'fastify';
import { type BaseDetail, baseReads } from '../service/api/base-view.ts';
import { ApiFailure } from './api-client.ts';
import { type BaseActionName, baseActionNames, baseActionPath, baseActionsFor, baseBodyOf } from './base-action-list.ts';
import { html, type Html } from './html.ts';
import { approvalsOf } from './parts/approvals-of.ts';
import { changesOf } from './parts/changes-of.ts';
import { basePath } from './parts/inline.ts';
import { readRights } from './rights.ts';
import { ifPermitted, problem } from './parts/problem.ts';
import { reasonField } from './parts/reason-field.ts';
import type { Texts } from './texts/en.ts';
import { type DashboardMeans, queryOf, sendPage, startVisit } from './visit.ts';

type Params = Readonly<Record<'namespace' | 'name', string>>;

/** Adds the routes of all actions on bases to the app. */
export function addBaseActionRoutes(app: FastifyInstance, means: DashboardMeans): void {
  for (const action of baseActionNames) {
    const path = `/bases/:namespace/:name/${action}`;
    app.get<{ Params: Params }>(path, async (request, reply) => {
      const { api, caller, texts, viewer } = await startVisit(request, means);
      const [found, rights] = await Promise.all([
        api.read(baseReads.one, request.params),
        readRights(api, caller, { bases: [request.params.namespace] }),
      ]);
      return sendPage(request, reply, viewer, {
        section: 'bases',
        title: `${texts[action]}: ${found.namespace}/${found.name}`,
        body: rights.may(action, found, 'bases')
          ? confirm(found, action, texts)
          : whyNot(found, caller.noActions ?? texts.notPermitted, texts),
      });
    });
    app.post<{ Params: Params }>(path, async (request, reply) => {
      const { api, texts, viewer } = await startVisit(request, means);
      try {
        await api.post(action, request.params, baseBodyOf(action, queryOf(request.body)), 'bases');
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status === 401) throw error;
        const found = await ifPermitted(api.read(baseReads.one, request.params));
        // The error is shown above the form, so that the user can try again.
        const body = html`${problem(error.message)} ${found !== undefined && confirm(found, action, texts)}`;
        const title = `${texts[action]}: ${request.params.namespace}/${request.params.name}`;
        return sendPage(request, reply.code(error.status), viewer, { section: 'bases', title, body });
      }
      return reply.redirect(`${basePath(request.params)}?done=${action}`, 303);
    });
  }
}

/** Why this user cannot request the action. */
function whyNot(found: BaseDetail, why: string, texts: Texts): Html {
  return html`
    <p class="note">${texts.readOnly} ${why}</p>
    <p><a href=${basePath(found)}>${found.namespace}/${found.name}</a></p>
  `;
}

function confirm(found: BaseDetail, action: BaseActionName, texts: Texts): Html {
  const possible = baseActionsFor(found, texts).find(({ name, isPossible }) => name === action && isPossible);
  if (possible === undefined)
    return html`
      <p class="note">${texts.noEffect}</p>
      <p><a href=${basePath(found)}>${texts.cancel}</a></p>
    `;
  const { question, label, image } = possible;
  return html`
    <form method="post" action=${baseActionPath(found, action)} class="confirm">
      <p>${question}</p>
      ${
        image !== undefined &&
        html`<input type="hidden" name="tag" value=${image.tag} /><input type="hidden" name="digest" value=${image.digest} />`
      }
      ${image !== undefined && html`<p>${approvalsOf(found, texts)} ${changesOf(found.changes, texts)}</p>`}
      ${reasonField(texts, action === 'reject')}
      <p class="actions"><button class="primary">${label}</button> <a class="button" href=${basePath(found)}>${texts.cancel}</a></p>
    </form>
  `;
}
