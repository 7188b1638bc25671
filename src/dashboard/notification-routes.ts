/** The form that sends a test message to a target of notifications. */
import type { FastifyInstance } from 'fastify';
import { notificationRoutes } from '../service/api/notification-view.ts';
import { ApiFailure } from './api-client.ts';
import { html, type Html } from './html.ts';
import { problem } from './parts/problem.ts';
import { sayTo } from './parts/said.ts';
import { type DashboardMeans, queryOf, sendPage, startVisit } from './visit.ts';

/** Adds the route. */
export function addNotificationRoutes(app: FastifyInstance, means: DashboardMeans): void {
  app.post('/notifications/test', async (request, reply) => {
    const { api, texts, viewer } = await startVisit(request, means);
    const target = queryOf(request.body).one('target') ?? '';
    const { notifying } = texts;
    const send = async (): Promise<Html> => {
      try {
        const { accepted, message } = await api.send(notificationRoutes.test, {}, { target });
        if (accepted) return html`<p class="done" role="status">${notifying.accepted(target)}</p>`;
        return html`<p class="problem" role="alert">${notifying.notAccepted(target)}${' '}${sayTo(undefined, message, texts)}</p>`;
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.status === 401) throw error;
        return problem(error.message);
      }
    };
    const body = html`
      ${await send()}
      <p><a href="/setup#notifications">${texts.setup}</a></p>
    `;
    return sendPage(request, reply, viewer, { section: 'setup', title: notifying.test, body });
  });
}
