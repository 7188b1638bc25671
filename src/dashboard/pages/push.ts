import { getEvent } from '../../service/api/routes/events.ts';
import { html } from '../html.ts';
import type { Page } from '../page.ts';
import { pushPath, showPush } from '../parts/push.ts';

/** One push, and what became of it. */
export const push: Page = {
  path: '/events/:id',
  section: 'activity',
  async show({ api, params, query, texts }) {
    const found = await api.read(getEvent, { id: params['id'] ?? '' });
    const { id, outcome, digest, pushedAt } = found;
    const canReplay = outcome !== 'ignored';
    const body = html`
      ${query.one('replayed') !== undefined && html`<p class="note" role="status">${texts.happened.replayed}</p>`}
      <ol class="events">
        ${showPush(found, texts)}
      </ol>
      <p class="note">
        <code>${id}</code>${digest !== undefined && html` · <code>${digest}</code>`}
        ${pushedAt !== undefined && ` · ${texts.pushed} ${pushedAt}`}
      </p>
      ${canReplay && html`<p class="actions"><a class="button" href=${`${pushPath(id)}/replay`}>${texts.happened.replay}</a></p>`}
      <p><a href="/events">${texts.events}</a></p>
    `;
    return { title: texts.happened.push(id.slice(0, 12)), body, isLive: true, followed: ['policies', 'pushes'] };
  },
};
