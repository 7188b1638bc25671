/** The way of a push to a policy, as far as it came: received, verified, permitted, changed, rolled out. */
import type { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import type { getEvents } from '../../service/api/routes/events.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { ago, duration, tagOf } from './inline.ts';
import { messageTo } from './said.ts';

export type PushEvent = z.output<(typeof getEvents)['answer']>['events'][number];
type Result = PushEvent['policies'][number];

export const wayStages = ['received', 'verified', 'permitted', 'changed', 'rolledOut'] as const;
export type WayStage = (typeof wayStages)[number];

/**
 * done: the push has passed this stage. busy: it is there now. wait: it goes on by itself, or when somebody approves. stop: it ended there, and somebody should act.
 * end: it ended there, and nothing is wrong. ahead: it has not come so far.
 */
export type WayMark = 'done' | 'busy' | 'wait' | 'stop' | 'end' | 'ahead';

export interface WayPoint {
  readonly stage: WayStage;
  readonly mark: WayMark;
  /** When the push passed the stage; RFC 3339. Absent where that is not recorded. */
  readonly at?: string;
  /** From the receipt of the push, in ms. */
  readonly afterMs?: number;
}

/** The stages of a push for one policy. `result`: undefined while nothing is known for the policy. Pure. */
export function wayOf({ receivedAt }: Pick<PushEvent, 'receivedAt'>, result: Omit<Result, 'namespace' | 'name'> | undefined): WayPoint[] {
  const { verifiedMs } = result ?? {};
  const [reached, mark] = endOf(result);
  const known: Partial<Record<WayStage, number>> = {
    received: 0,
    ...defined({ verified: verifiedMs, [reached]: mark === 'done' ? result?.afterMs : undefined }),
  };
  const last = wayStages.indexOf(reached);
  return wayStages.map((stage, index): WayPoint => {
    const afterMs = index > last ? undefined : known[stage];
    const at = afterMs === undefined ? undefined : new Date(Date.parse(receivedAt) + afterMs).toISOString();
    return { stage, mark: index < last ? 'done' : index > last ? 'ahead' : mark, ...defined({ at, afterMs: afterMs || undefined }) };
  });
}

/** The stage that a push has reached, and what it does there. */
function endOf(result: Omit<Result, 'namespace' | 'name'> | undefined): readonly [WayStage, WayMark] {
  if (result === undefined) return ['verified', 'busy'];
  const { outcome, stage, verifiedMs } = result;
  const found: WayStage = stage === 'rollout' ? 'rolledOut' : verifiedMs === undefined && stage === undefined ? 'verified' : 'permitted';
  switch (outcome) {
    case 'updated':
      return stage === 'rollout' ? ['rolledOut', 'done'] : ['changed', 'done'];
    case 'waiting':
    case 'retrying':
      return [found, 'wait'];
    case 'failed':
    case 'stalled':
      return [found, 'stop'];
    case 'queued':
    case 'working':
      return [found, 'busy'];
    default:
      return [found, 'end'];
  }
}

/** The way of the last push of a policy. `instructed`: what a message is for this user. */
export function showPushWay(
  push: PushEvent,
  policy: { readonly namespace: string; readonly name: string },
  instructed: (message: string) => string,
  texts: Texts,
): Html {
  const own = push.policies.find(({ namespace, name }) => namespace === policy.namespace && name === policy.name);
  const why = own?.message ?? push.message;
  return html`
    <p>${tagOf(push)}${' '}<small>${push.receiver}</small>${' '}<span class="note">${ago(push.receivedAt)}</span></p>
    <ol class="way">
      ${wayOf(push, own).map(
        ({ stage, mark, at, afterMs }) => html`
          <li class=${mark}>
            <b>${texts.way.stages[stage]}</b>
            <small>${mark === 'done' ? at !== undefined && ago(at) : texts.way.marks[mark]}</small>
            ${afterMs !== undefined && html`<small>${texts.after(duration(afterMs))}</small>`}
          </li>
        `,
      )}
    </ol>
    ${why !== undefined && html`<p class="why">${messageTo(own?.reason ?? push.reason, instructed(why), texts)}</p>`}
  `;
}
