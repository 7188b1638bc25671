import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import type { Answer, Receiver } from '../../../src/service/receive/answer-delivery.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';
import { traceDelivery } from '../../../src/service/receive/trace-delivery.ts';
import { openTraces } from '../../harness/traces.ts';

const receiver: Receiver = { name: 'harbor-prod', provider: harbor, unauthenticated: false, secrets: () => ['hidden-secret'], proofs: [] };
const event: PushEvent = {
  id: 'e1',
  receiver: 'harbor-prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.1',
  receivedAt: '2026-11-21T10:00:00.000Z',
};

/** The exported span of a delivery with this answer. */
async function trace(t: TestContext, answer: Answer, headers: Record<string, string> = {}) {
  const { tracing, finish } = await openTraces(t);
  assert.equal(await traceDelivery(tracing, receiver, headers, () => Promise.resolve(answer)), answer);
  return (await finish())[0];
}

test('the span of an accepted delivery names its sender and its pushes, and why others were ignored', async (t) => {
  const ignored = [{ reason: 'a chart', code: 'NotAnImage' }, { reason: 'a ping' }] as const;
  const span = await trace(t, { status: 202, accepted: [event], ignored });
  assert.equal(span?.name, 'POST /webhooks/{receiver}');
  const { attributes, events } = span;
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

test("the sender's trace context becomes a link, and its other headers are not recorded", async (t) => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const span = await trace(t, { status: 202, accepted: [event], ignored: [] }, { traceparent, authorization: 'hidden-secret' });
  assert.deepEqual([span?.links, span?.parentId], [[{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }], '']);
  assert.ok(!JSON.stringify(span).includes('hidden-secret'));
});

test('an unauthenticated sender creates no trace', async (t) => {
  assert.equal(await trace(t, { status: 401, why: 'no such secret' }), undefined);
});

test('a delivery that could not be stored is a failed span, and a rate-limited one is not', async (t) => {
  assert.equal((await trace(t, { status: 503, why: 'Redis did not confirm' }))?.failure, 'Redis did not confirm');
  const limited = await trace(t, { status: 429, retryAfterSeconds: 3 });
  assert.deepEqual([limited?.attributes['http.response.status_code'], limited?.failure], [429, undefined]);
});
