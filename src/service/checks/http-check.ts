/** A check by an endpoint: a signed CloudEvent, answered with a verdict. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { readLine } from '../../core/model/image-source.ts';
import type { CheckQuestion } from '../../core/model/rollout-check.ts';
import { signEvent } from '../../core/model/signed-event.ts';
import { exchange } from '../proxy/exchange.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import { oneLine } from './answer-text.ts';
import { answerWithinMs, type CheckMeans } from './check-means.ts';

const answer = z.object({ verdict: z.enum(['pass', 'fail', 'wait']), reason: z.string().exactOptional() });

/** Sends the event. Every other answer than a 2xx with a verdict is none. */
export async function askEndpoint(
  { url: text, secret }: Extract<CheckQuestion, { kind: 'http' }>,
  request: CheckRequest,
  means: CheckMeans,
): Promise<AskedAnswer> {
  const url = new URL(text);
  const key = await readSigningKey(request.policy.namespace, secret, request.signal, means);
  const event = { ...eventOf(request, means), time: new Date(means.now()).toISOString() };
  const { result, status, json } = await exchange(
    url,
    { method: 'POST', ...signEvent(event, key, new Date(means.now())) },
    { fetch: means.fetch, now: means.now, signal: request.signal, timeoutMs: answerWithinMs, wantsJson: true },
  );
  if (result.kind !== 'sent') return { kind: 'none', message: result.message };
  const read = answer.safeParse(json);
  if (!read.success)
    return {
      kind: 'none',
      message: `POST to ${url.origin} was answered ${status} without a verdict: {"verdict": "pass"}, or "fail" with a "reason"`,
    };
  const { verdict, reason = '' } = read.data;
  return { kind: verdict === 'wait' ? 'none' : verdict, message: oneLine(reason) };
}

/** The event is the same for every question of a check, but for its time, so that an endpoint can recognise it by its id. */
function eventOf({ policy: { namespace, name }, check, record, image, changes }: CheckRequest, { cluster }: CheckMeans) {
  const { tag, digest } = record;
  return {
    type: 'Check',
    source: `/imagepolicies/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`,
    id: record.id,
    data: {
      check: check.name,
      phase: check.phase,
      subject: { kind: 'ImagePolicy', namespace, name },
      image,
      tag,
      ...defined({ digest, cluster }),
      changes,
    },
  };
}

async function readSigningKey(
  namespace: string,
  { name, key }: { name: string; key: string },
  signal: AbortSignal,
  { readSecret }: CheckMeans,
): Promise<string> {
  const found = readLine(await readSecret({ namespace, name }, { refresh: false, signal }), key);
  if ('why' in found) throw new Error(`the Secret ${name} ${found.why}`);
  return found.line;
}
