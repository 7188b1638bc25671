import type { z } from 'zod';
import { getCauses, type ShownCause } from '../../service/api/routes/causes.ts';
import { getEvents } from '../../service/api/routes/events.ts';
import { notificationRoutes } from '../../service/api/notification-view.ts';
import { getDoctor, getInstallation, getReceivers, getRegistries } from '../../service/api/routes/installation.ts';
import { documentation } from '../../core/model/reasons.ts';
import type { Api } from '../api-client.ts';
import { html, type Html } from '../html.ts';
import { hasNotifications, type Page, type PageSettings } from '../page.ts';
import { showReport } from '../parts/findings.ts';
import { showRegistries } from '../parts/health.ts';
import { showNotificationTargets } from '../parts/notification-targets.ts';
import { ifPermitted, partOf, recordOf } from '../parts/problem.ts';
import type { PushEvent } from '../parts/push.ts';
import { showReceiver } from '../parts/receivers.ts';
import { showRunning } from '../parts/running.ts';
import type { Texts } from '../texts/en.ts';

const maxAsked = 10;

export const setup: Page = {
  path: '/setup',
  section: 'setup',
  async show(call) {
    const { api, caller, texts, settings } = call;
    if (!caller.listsAll) return { title: texts.setup, body: html`<p class="note">${texts.onlyForAdministrators}</p>` };
    const receivers = await recordOf(readReceivers(api), call, (read) => showReceivers(read, settings, texts));
    const [report, registries, targets, running] = await Promise.all([
      partOf(api.read(getDoctor, { recent: 'true' }), (answer) => showReport(answer, texts)),
      recordOf(readRegistries(api), call, ({ registries, causes }) => showRegistries(registries, causes, texts)),
      hasNotifications(caller)
        ? partOf(api.read(notificationRoutes.list), (answer) => showNotificationTargets(answer.targets, caller, texts))
        : undefined,
      recordOf(api.read(getInstallation), call, (answer) => showRunning(answer, texts)),
    ]);
    const body = html`
      <div class="beside">
        ${report} ${registries}
        <section>
          <h2>${texts.receivers}</h2>
          <p>${texts.setupIntro} <a href=${`${documentation}/receivers.md`} rel="noreferrer">${texts.moreSetup}</a></p>
          ${receivers}
        </section>
        ${targets} ${running}
      </div>
    `;
    return { title: texts.setup, body, isLive: true, followed: ['deliveries'] };
  },
};

type Read = z.output<typeof getReceivers.answer> & {
  /** The last push, and what was ignored last, by receiver. */
  readonly last: ReadonlyMap<string, PushEvent>;
  readonly ignored: ReadonlyMap<string, PushEvent | undefined>;
};

/** Reads the receivers with what each has got last. */
async function readReceivers(api: Api): Promise<Read> {
  const [{ receivers, ...rest }, recent] = await Promise.all([
    api.read(getReceivers),
    api.read(getEvents, { limit: 100 }).catch(() => ({ events: [] })),
  ]);
  const last = new Map(
    recent.events
      .filter(isPush)
      .toReversed()
      .map((event) => [event.receiver, event]),
  );
  // One busy receiver may have all recent events. For each of the others the API examines four times as many.
  const missing = receivers.filter(({ name }) => !last.has(name)).slice(0, maxAsked);
  const older = await Promise.all(
    missing.map(async ({ name }) => api.read(getEvents, { receiver: name, limit: 20 }).catch(() => ({ events: [] }))),
  );
  for (const { events } of older) {
    const found = events.find(isPush);
    if (found !== undefined) last.set(found.receiver, found);
  }
  const ignored = new Map(
    await Promise.all(
      receivers.slice(0, maxAsked).map(async ({ name }) => {
        const { events } = await api.read(getEvents, { receiver: name, outcome: 'ignored', limit: 1 }).catch(() => ({ events: [] }));
        return [name, events[0]] as const;
      }),
    ),
  );
  return { receivers, ...rest, last, ignored };
}

/** A registry may announce pulls, scans and deletions as well. */
function isPush({ outcome, reason }: PushEvent): boolean {
  return outcome !== 'ignored' || reason !== 'OtherEvent';
}

function showReceivers({ receivers, last, ignored }: Read, { webhookUrl }: PageSettings, texts: Texts): Html {
  return html`
    ${webhookUrl === undefined && html`<p class="note">${texts.noWebhookUrl}</p>`}
    ${receivers.length === 0 && html`<p class="none">${texts.noReceivers}</p>`}
    ${receivers.map((receiver) => {
      const { name } = receiver;
      return showReceiver(receiver, { push: last.get(name), ignored: ignored.get(name) }, webhookUrl, texts);
    })}
  `;
}

async function readRegistries(api: Api): Promise<z.output<typeof getRegistries.answer> & { readonly causes: readonly ShownCause[] }> {
  const [answer, found] = await Promise.all([api.read(getRegistries), ifPermitted(api.read(getCauses))]);
  return { ...answer, causes: found?.causes ?? [] };
}
