import type { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import type { getEvents } from '../../service/api/routes/events.ts';
import { isSameChange } from '../../service/api/history-origins.ts';
import { html, type Html } from '../html.ts';
import type { PolicyDetail } from '../action-list.ts';
import type { Texts } from '../texts/en.ts';
import { changesOf } from './changes-of.ts';
import { ago, duration, tagOf, time } from './inline.ts';
import { type Action, type Change, requestsFor } from './requests-for.ts';
import { messageTo } from './said.ts';

type PushEvent = z.output<(typeof getEvents)['answer']>['events'][number];

/** Changes to the same image that happened together. */
interface Episode {
  readonly changes: readonly [Change, ...Change[]];
  /** The push that caused the changes, if it is known. */
  readonly push?: PushEvent;
  /** When the rollout ended, as far as that is recorded; RFC 3339. */
  readonly endedAt?: string;
  /** The time from the receipt of the push to the verification of the image, in ms. */
  readonly verifiedMs?: number;
}

/** The changes of a policy, from the push of an image to its rollout, the latest first. */
export function timeline(
  history: readonly Change[],
  { pushes, actions, commits = [] }: Around,
  policy: { readonly namespace: string; readonly name: string },
  texts: Texts,
): Html {
  if (history.length === 0) return html`<p class="none">${texts.noHistory}</p>`;
  return html`
    <ol class="timeline">
      ${episodesOf(history, pushes, policy).map((episode) => showEpisode(episode, { actions, commits }, texts))}
    </ol>
  `;
}

/** What is known beside the history: the pushes, what people asked for, and the commits of the changes. */
interface Around {
  readonly pushes: readonly PushEvent[];
  readonly actions: readonly Action[];
  readonly commits?: PolicyDetail['commits'] | undefined;
}

function showEpisode(
  { changes, push, endedAt, verifiedMs }: Episode,
  { actions, commits = [] }: Omit<Around, 'pushes'>,
  texts: Texts,
): Html {
  const [first] = changes;
  const built = changesOf(commits.find((one) => changes.some((change) => isSameChange(one, change)))?.changes, texts);
  const oldest = changes.at(-1) ?? first;
  const result = texts[first.result];
  const tookMs = endedAt === undefined ? undefined : Date.parse(endedAt) - Date.parse(push?.receivedAt ?? oldest.at);
  const points: [string, Html | string | false | undefined][] = [
    [texts.pushed, push?.pushedAt && time(push.pushedAt)],
    [texts.received, push && html`${time(push.receivedAt)} <small>${push.receiver}</small>`],
    [
      texts.verified,
      push &&
        verifiedMs !== undefined &&
        html`${time(addMs(push.receivedAt, verifiedMs))} <small>${texts.after(duration(verifiedMs))}</small>`,
    ],
    ...requestsFor(oldest, actions).map((action): [string, Html] => [texts.requestedAt, showRequest(action, texts)]),
    [texts.changed, time(oldest.at)],
    [texts.commits, built],
    [result, tookMs === undefined ? '' : html`${time(endedAt)} <small>${texts.after(duration(tookMs))}</small>`],
  ];
  return html`
    <li class=${first.result}>
      <p>
        <b>${tagOf(first)}</b>${' '}<span class=${`badge ${toneOf[first.result]}`}>${result}</span
        >${' '}<small>${texts.triggers[first.trigger]}</small>${' '}
        <span class="note">${ago(oldest.at)}</span>
      </p>
      <ol class="points">
        ${points.map(([label, value]) => value !== undefined && value !== false && html`<li><span>${label}</span> ${value}</li>`)}
      </ol>
      ${first.failure !== undefined && html`<p class="why">${texts.failedBecause[first.failure.against]}: ${first.failure.reason}: ${messageTo(first.failure.reason, first.failure.message, texts)}</p>`}
      ${first.rollbackRefused !== undefined && html`<p class="why">${messageTo(first.rollbackRefused.reason, first.rollbackRefused.message, texts)}</p>`}
      <ul class="changes">
        ${changes.map(({ kind, namespace, name, container, from, to, alongside = [] }) =>
          [...(from === to ? [] : [{ container, from, to }]), ...alongside].map(
            (one) =>
              html`<li>${kind} ${namespace}/${name} (${one.container}): <code>${one.from ?? '–'}</code> → <code>${one.to}</code></li>`,
          ),
        )}
      </ul>
    </li>
  `;
}

/** Who asked for it and when, and why if that was said. */
function showRequest({ user, at, why }: Action, { happened }: Texts): Html {
  return html`<b>${user ?? happened.somebody}</b> ${time(at)}${why !== undefined && html` “${why}”`}`;
}

function addMs(time: string, ms: number): string {
  return new Date(Date.parse(time) + ms).toISOString();
}

const toneOf: Readonly<Record<Change['result'], string>> = { Applied: 'busy', RolledOut: 'good', RolledBack: 'wait', Failed: 'bad' };

/** Groups changes, and finds the latest push that announced the image of each group. Pure. */
export function episodesOf(
  history: readonly Change[],
  pushes: readonly PushEvent[],
  policy: { readonly namespace: string; readonly name: string },
): Episode[] {
  const groups: [Change, ...Change[]][] = [];
  for (const change of history) {
    const group = groups.at(-1);
    if (group !== undefined && isSame(group[0], change)) group.push(change);
    else groups.push([change]);
  }
  return groups.map((changes) => {
    const [first] = changes;
    const rolledBackAt = endOfFailed(first, history);
    const push = followsPush[first.trigger]
      ? pushes.find((one) => one.receivedAt <= endOfSecond(first.at) && announces(one, first))
      : undefined;
    const own = push?.policies.find(({ namespace, name }) => namespace === policy.namespace && name === policy.name);
    // The times of a push do not count if its image had to be approved or to wait.
    const { afterMs, verifiedMs } = own?.outcome === 'updated' ? own : {};
    const outAt = first.result === 'RolledOut' && push && afterMs !== undefined ? addMs(push.receivedAt, afterMs) : undefined;
    // The result of a push is that of its last change. An earlier one ended before.
    const isOwn = outAt !== undefined && endOfSecond(outAt) >= first.at;
    return { changes, ...defined({ push, verifiedMs, endedAt: isOwn ? outAt : rolledBackAt }) };
  });
}

/** Whether a change with this trigger follows a push. A rollback goes to an image that was pushed long before. */
const followsPush: Readonly<Record<Change['trigger'], boolean>> = {
  Webhook: true,
  Poll: true,
  PolicyChange: true,
  TargetChange: false,
  SecretChange: true,
  WaitOver: true,
  Approval: true,
  Rollback: false,
  Request: true,
};

/** When the rollback of a failed change began: its end. */
function endOfFailed({ result, at, to, ...change }: Change, history: readonly Change[]): string | undefined {
  if (result !== 'RolledBack') return undefined;
  const isSameContainer = (one: Change) =>
    one.kind === change.kind && one.namespace === change.namespace && one.name === change.name && one.container === change.container;
  return history.findLast((one) => one.trigger === 'Rollback' && one.from === to && one.at >= at && isSameContainer(one))?.at;
}

/** Whether a push announced the image of a change. */
function announces({ tag, digest, policies }: PushEvent, change: Change): boolean {
  if (tag !== change.tag) return false;
  const known = [digest, ...policies.map((policy) => policy.digest)].filter((one) => one !== undefined);
  return change.digest === undefined || known.length === 0 || known.includes(change.digest);
}

function isSame(a: Change, b: Change): boolean {
  return a.tag === b.tag && a.digest === b.digest && a.result === b.result && a.trigger === b.trigger;
}

/** The end of the second of a time, because earlier versions recorded whole seconds. */
function endOfSecond(at: string): string {
  return new Date(Date.parse(at) + 999).toISOString();
}
