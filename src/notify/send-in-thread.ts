/** Sends a message to a target that can change and answer its messages: the first message about an image shows its current state. */
import type { ThreadState } from '../service/queue/notice-threads.ts';
import type { TargetRequest, Threads } from './message.ts';
import type { Exchanged, SendResult } from '../service/proxy/exchange.ts';
import { callsAnew, isLater, isSameEvent, type ThreadEvent } from './thread.ts';

/** The thread of a message. */
export interface ThreadMeans {
  readonly event: ThreadEvent;
  readonly last: ThreadState | undefined;
  readonly remember: (state: ThreadState) => Promise<void>;
}

interface ThreadPorts extends ThreadMeans {
  readonly threads: Threads;
  readonly send: (request: TargetRequest) => Promise<Exchanged>;
}

/**
 * Posts the message, or changes the earlier message of the thread to it and answers there. Rejects only if the message was sent and cannot be remembered; the next try
 * then sends it again.
 */
export async function sendInThread(request: TargetRequest, ports: ThreadPorts): Promise<SendResult> {
  const { threads, send, event, last, remember } = ports;
  const id = last?.id !== undefined && threads.id.test(last.id) ? last.id : undefined;
  if (last !== undefined && id !== undefined) {
    if (isSameEvent(event, last)) return { kind: 'sent', message: 'it was sent before' };
    const result = isLater(event, last)
      ? await changeMessage(request, { ...ports, id, last })
      : await answerOnly(request, { ...ports, id });
    if (result !== undefined) return result;
  }
  const posted = await send(request);
  if (posted.result.kind !== 'sent') return posted.result;
  const made = threads.idOf(posted.json);
  await remember({ ...event, ...(made !== undefined && threads.id.test(made) && { id: made }) });
  return posted.result;
}

/** Changes the message to a later state, and answers below it. Undefined if a new message is to be posted: somebody must hear of it, or the message is gone. */
async function changeMessage(
  request: TargetRequest,
  { threads, send, event, last, remember, id }: ThreadPorts & { readonly id: string; readonly last: ThreadState },
): Promise<SendResult | undefined> {
  const { change, answer, answerCalls = false } = threads;
  const calls = callsAnew(event.kind, last.kind);
  if (calls && !answerCalls) return undefined;
  // A change may be repeated, so it comes first: what fails after it is tried again.
  const changed = await send(change(request, id));
  if (changed.result.kind !== 'sent') return isGone(changed) ? undefined : changed.result;
  if (answer !== undefined) {
    const { result } = await send(answer(request, id, calls));
    if (result.kind !== 'sent') return result;
  }
  await remember({ ...event, id });
  return changed.result;
}

/** Answers below a message that shows a later state already. */
async function answerOnly(
  request: TargetRequest,
  { threads: { answer }, send, id }: ThreadPorts & { readonly id: string },
): Promise<SendResult | undefined> {
  if (answer === undefined) return { kind: 'sent', message: 'nothing to report: a later state was reported before' };
  const answered = await send(answer(request, id, false));
  return isGone(answered) ? undefined : answered.result;
}

/** Whether a request failed because the message does not exist any more, or may not be changed. */
function isGone({ result, status = 0 }: Exchanged): boolean {
  return result.kind === 'refused' || (result.kind === 'failed' && [403, 404, 410].includes(status));
}
