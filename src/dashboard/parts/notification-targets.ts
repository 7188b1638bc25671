/** The targets of notifications: whether each accepts messages, and a button that sends one. */
import type { NotificationView } from '../../service/api/notification-view.ts';
import { html, type Html } from '../html.ts';
import type { Caller } from '../page.ts';
import type { Texts } from '../texts/en.ts';
import { ago } from './inline.ts';
import { sayTo } from './said.ts';
import { table } from './tables.ts';

export function showNotificationTargets(targets: readonly NotificationView[], { noActions }: Caller, texts: Texts): Html {
  const { notifying } = texts;
  const headings = [notifying.target, notifying.kind, notifying.state, notifying.lastAccepted, notifying.lastFailed];
  return html`
    <section id="notifications">
      <h2>${notifying.title}</h2>
      ${
        targets.length === 0
          ? html`<p class="none">${notifying.none}</p>`
          : table(
              [...headings, ...(noActions === undefined ? [notifying.test] : [])],
              targets.map((target) => [
                target.name,
                target.type ?? '–',
                showState(target, texts),
                ago(target.lastAcceptedAt) || '–',
                target.lastFailedAt === undefined
                  ? '–'
                  : html`${ago(target.lastFailedAt)}${' '}<span class="why"
                        >${target.lastFailure && sayTo(undefined, target.lastFailure, texts)}</span
                      >`,
                ...(noActions === undefined ? [testForm(target, notifying)] : []),
              ]),
              'targets',
            )
      }
      ${noActions !== undefined && html`<p class="note">${notifying.byCommand}${' '}<code class="copy">image-watcher notify test</code></p>`}
    </section>
  `;
}

function showState({ ready, reason, message }: NotificationView, texts: Texts): Html {
  const tone = reason === 'Suspended' ? 'off' : ready ? 'good' : 'bad';
  const isSaid = !ready && message !== '' && reason !== 'NotAccepted';
  return html`<span class=${`badge ${tone}`}>${texts.notifying.reasons[reason]}</span
    >${isSaid && html`${' '}<span class="why">${sayTo(undefined, message, texts)}</span>`}`;
}

function testForm({ name }: NotificationView, { test, testOf }: Texts['notifying']): Html {
  return html`
    <form method="post" action="/notifications/test">
      <input type="hidden" name="target" value=${name} /><button aria-label=${testOf(name)}>${test}</button>
    </form>
  `;
}
