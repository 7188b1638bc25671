/** Receivers: where a sender delivers, how it is set up, and whether it works. */
import type { z } from 'zod';
import { documentation } from '../../core/model/reasons.ts';
import type { getReceivers } from '../../service/api/routes/installation.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, tagOf } from './inline.ts';
import { messageTo } from './said.ts';
import { type PushEvent, pushPath } from './push.ts';
import { factList } from './tables.ts';

type Receiver = z.output<(typeof getReceivers)['answer']>['receivers'][number];
type State = keyof Texts['receiving']['states'];

/** What a receiver has got last, as far as the record of pushes has it. */
export interface LastEvents {
  readonly push?: PushEvent | undefined;
  readonly ignored?: PushEvent | undefined;
}

const toneOf: Readonly<Record<State, string>> = { delivers: 'good', refused: 'bad', waits: 'wait' };

/** Whether a receiver delivers. */
export function stateOfReceiver({ lastAcceptedAt, lastRefusedAt }: Receiver): State {
  if (lastRefusedAt !== undefined && (lastAcceptedAt === undefined || lastRefusedAt > lastAcceptedAt)) return 'refused';
  return lastAcceptedAt === undefined ? 'waits' : 'delivers';
}

export function showReceiver(receiver: Receiver, { push, ignored }: LastEvents, webhookUrl: string | undefined, texts: Texts): Html {
  const { name, provider, path } = receiver;
  const { receiving } = texts;
  const state = stateOfReceiver(receiver);
  const url = `${webhookUrl ?? ''}${path}`;
  return html`
    <section class="receiver">
      <h3>
        ${name} <small>${provider}</small>${' '}<span class=${`badge ${toneOf[state]}`} data-again=${state === 'waits' ? '' : undefined}
          >${receiving.states[state]}</span
        >
      </h3>
      <p>
        <code class="copy">${url}</code>${' '}<button type="button" class="copier" data-copy=${url} data-done=${receiving.copied} hidden>
          ${receiving.copy}
        </button>
      </p>
      ${factList([
        [
          texts.lastSent,
          push && html`${ago(push.receivedAt)}${' '}<a href=${pushPath(push.id)}>${push.repository}</a>${' '}${tagOf(push)}`,
        ],
        [receiving.lastRefused, state === 'refused' && refusal(receiver, texts)],
        [
          receiving.lastIgnored,
          ignored &&
            html`${ago(ignored.receivedAt)}${' '}<span class="why"
                >${messageTo(ignored.reason, ignored.message, texts) ?? ignored.reason}</span
              >`,
        ],
      ])}
      <p><a href=${`${documentation}/receivers/${provider}.md`} rel="noreferrer">${receiving.steps(provider)}</a></p>
    </section>
  `;
}

/** When a delivery was refused last, and why. */
function refusal({ answers, lastRefusedAt }: Receiver, { receiving }: Texts): Html {
  const [status = ''] = Object.entries(answers).find(([status, at]) => Number(status) >= 400 && at === lastRefusedAt) ?? [];
  const reasons: Readonly<Record<string, string>> = receiving.answers;
  return html`${ago(lastRefusedAt)}${' '}<code>${status}</code>${' '}${Object.hasOwn(reasons, status) && html`<span class="why">${reasons[status]}</span>`}`;
}
