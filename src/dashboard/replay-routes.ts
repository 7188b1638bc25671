/** The page that asks to confirm that a push is processed again, and its form. */
import type { FastifyInstance } from 'fastify';
import { getEvent, postReplay } from '../service/api/routes/events.ts';
import { html } from './html.ts';
import { pushPath, showPush } from './parts/push.ts';
import { reasonField, reasonOf } from './parts/reason-field.ts';
import { type DashboardMeans, queryOf, sendPage, startVisit } from './visit.ts';

interface Params {
  readonly id: string;
}

/** Adds the two routes. */
export function addReplayRoutes(app: FastifyInstance, means: DashboardMeans): void {
  const path = '/events/:id/replay';
  app.get<{ Params: Params }>(path, async (request, reply) => {
    const { api, texts, viewer } = await startVisit(request, means);
    const { id } = request.params;
    const found = await api.read(getEvent, { id });
    const body = html`
      <ol class="events">
        ${showPush(found, texts)}
      </ol>
      <form method="post" action=${`${pushPath(id)}/replay`} class="confirm">
        <p>${texts.happened.confirmReplay}</p>
        ${reasonField(texts)}
        <p class="actions">
          <button class="primary">${texts.happened.replay}</button> <a class="button" href=${pushPath(id)}>${texts.cancel}</a>
        </p>
      </form>
    `;
    return sendPage(request, reply, viewer, { section: 'activity', title: texts.happened.replay, body });
  });
  app.post<{ Params: Params }>(path, async (request, reply) => {
    const { api } = await startVisit(request, means);
    const { id } = await api.send(postReplay, { id: request.params.id }, reasonOf(queryOf(request.body)));
    return reply.redirect(`${pushPath(id)}?replayed=1`, 303);
  });
}
