import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeTraced, traceDeliveries } from '../../../src/service/tracing/trace-deliveries.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import type { Answer, Receiver } from '../../../src/service/receive/answer-delivery.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';
import { fakeTracing } from './fake-tracing.ts';

const receiver: Receiver = { name: 'harbor-prod', provider: harbor, unauthenticated: false, secrets: () => ['hidden-secret'], proofs: [] };
const event: PushEvent = {
  id: 'e1',
  receiver: 'harbor-prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.1',
  receivedAt: '2026-11-21T10:00:00.000Z',
};

async function trace(answer: Answer, headers: Record<string, string> = {}) {
  const { tracing, told } = fakeTracing();
  assert.equal(await traceDeliveries(tracing)(receiver, headers, () => Promise.resolve(answer)), answer);
  return told;
}

test('the span of an accepted delivery names its sender and its pushes, and why others were ignored', async () => {
  const ignored = [{ reason: 'a chart', code: 'NotAnImage' }, { reason: 'a ping' }] as const;
  const [span, ...events] = await trace({ status: 202, accepted: [event], ignored });
  assert.equal(span?.name, 'POST /webhooks/{receiver}');
  const { attributes } = span;
  assert.deepEqual(
    [attributes['http.response.status_code'], attributes['image_watcher.accepted'], attributes['image_watcher.ignored']],
    [202, 1, 2],
  );
  assert.deepEqual(
    events.map((one) => [one.name, one.attributes['image_watcher.reason']]),
    [
      ['ignored', 'NotAnImage'],
      ['ignored', 'OtherEvent'],
    ],
  );
});

test("the sender's trace context becomes a link, and its other headers are not recorded", async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const [span] = await trace({ status: 202, accepted: [event], ignored: [] }, { traceparent, authorization: 'hidden-secret' });
  assert.deepEqual([span?.start?.link, span?.start?.parent], [traceparent, undefined]);
  assert.ok(!JSON.stringify(span).includes('hidden-secret'));
});

test('an unauthenticated sender creates no trace', async () => {
  const [span] = await trace({ status: 401, why: 'no such secret' });
  assert.equal(span?.isForgotten, true);
});

test('a delivery that could not be stored is a failed span, and a rate-limited one is not', async () => {
  assert.equal((await trace({ status: 503, why: 'Redis did not confirm' }))[0]?.failure, 'Redis did not confirm');
  assert.equal((await trace({ status: 429, retryAfterSeconds: 3 }))[0]?.failure, undefined);
});

test('pushes are stored with the trace context of their delivery, and without one where there is none', async () => {
  const { tracing } = fakeTracing('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  const stored: (string | undefined)[] = [];
  const store = storeTraced(
    {
      add: (events, traceparent) => {
        stored.push(traceparent);
        return Promise.resolve(events);
      },
    },
    tracing,
  );
  await store([event]);
  await tracing.span({ name: 'delivery' }, () => store([event]));
  assert.deepEqual(stored, [undefined, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01']);
});
