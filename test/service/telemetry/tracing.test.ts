import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { TracingOptions } from '../../../src/service/telemetry/open-tracing.ts';
import { currentSpan, outsideSpans, spanFields } from '../../../src/service/telemetry/tracing.ts';
import { openTraces } from '../../harness/traces.ts';
import { waitFor } from '../../harness/wait-for.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const remote = `00-${traceId}-b7ad6b7169203331-01`;

describe('spans', () => {
  const open = async (t: TestContext, options: Partial<TracingOptions> = {}) => {
    const { finish, ...traces } = await openTraces(t, options);
    return { ...traces, finish: async () => new Map((await finish()).map((span) => [span.name, span])) };
  };

  it('are children of the span in which they start, even after a wait', async (t) => {
    const { tracing, finish } = await open(t);
    await tracing.span({ name: 'outer', kind: 'server', attributes: { size: 3, tags: ['a', 'b'] } }, async (span) => {
      await setImmediate();
      await currentSpan()?.step({ name: 'inner', kind: 'client' }, async () => {
        await setImmediate();
        currentSpan()?.event('noticed', { why: 'it is so' });
      });
      span.set({ late: true });
    });
    const spans = await finish();
    const [outer, inner] = [spans.get('outer'), spans.get('inner')];
    assert.deepEqual([outer?.parentId, outer?.kind, outer?.attributes], ['', 'server', { size: 3, tags: ['a', 'b'], late: true }]);
    assert.deepEqual([inner?.traceId, inner?.parentId, inner?.kind], [outer?.traceId, outer?.spanId, 'client']);
    assert.deepEqual(inner?.events, [{ name: 'noticed', attributes: { why: 'it is so' } }]);
    assert.deepEqual([outer?.resource['service.name'], outer?.resource['image_watcher.roles']], ['image-watcher', ['work']]);
  });

  it('continue the trace of another process, and pass it on', async (t) => {
    const { tracing, finish } = await open(t);
    const context = await tracing.span({ name: 'here', parent: remote }, () => Promise.resolve(currentSpan()?.traceparent));
    const here = (await finish()).get('here');
    assert.deepEqual([here?.traceId, here?.parentId], [traceId, 'b7ad6b7169203331']);
    assert.equal(context, `00-${traceId}-${here?.spanId}-01`);
  });

  for (const parent of ['', 'nonsense', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, `${remote}\r\nx: y`]) {
    it(`start a new trace where the parent is ${JSON.stringify(parent)}`, async (t) => {
      const { tracing, finish } = await open(t);
      await tracing.span({ name: 'here', parent, link: parent }, () => Promise.resolve());
      const here = (await finish()).get('here');
      assert.deepEqual([here?.parentId, here?.links], ['', []]);
    });
  }

  it('are linked to traces that they do not belong to', async (t) => {
    const { tracing, finish } = await open(t);
    await tracing.span({ name: 'here', link: remote }, () => Promise.resolve());
    const here = (await finish()).get('here');
    assert.equal(here?.parentId, '');
    assert.notEqual(here.traceId, traceId);
    assert.deepEqual(here.links, [{ traceId, spanId: 'b7ad6b7169203331' }]);
  });

  it('fail with a thrown error, which is rethrown', async (t) => {
    const { tracing, finish } = await open(t);
    const error = new Error('listing tags', { cause: new Error('no answer') });
    await assert.rejects(
      tracing.span({ name: 'broken' }, () => Promise.reject(error)),
      error,
    );
    const refused = new PermanentError('RegistryRefused', 'not allowed');
    await assert.rejects(
      tracing.span({ name: 'refused' }, () => Promise.reject(refused)),
      refused,
    );
    const spans = await finish();
    assert.deepEqual(
      [spans.get('broken')?.failure, spans.get('broken')?.attributes],
      ['listing tags: no answer', { 'error.type': 'Error' }],
    );
    assert.deepEqual(
      [spans.get('refused')?.failure, spans.get('refused')?.attributes],
      ['not allowed', { 'error.type': 'RegistryRefused' }],
    );
  });

  it('record a wait without failing', async (t) => {
    const { tracing, finish } = await open(t);
    const wait = new WaitError('MinAge', new Date(0), 'too young');
    await assert.rejects(
      tracing.span({ name: 'early' }, () => Promise.reject(wait)),
      wait,
    );
    const early = (await finish()).get('early');
    assert.equal(early?.failure, undefined);
    const attributes = {
      'image_watcher.reason': 'MinAge',
      'image_watcher.until': new Date(0).toISOString(),
      'image_watcher.message': 'too young',
    };
    assert.deepEqual(early?.events, [{ name: 'wait', attributes }]);
  });

  it('that are dropped are not exported', async (t) => {
    const { tracing, finish } = await open(t);
    await tracing.span({ name: 'stranger' }, (span) => Promise.resolve(span.forget()));
    await tracing.span({ name: 'friend' }, () => Promise.resolve());
    assert.deepEqual([...(await finish()).keys()], ['friend']);
  });

  it('do not become children of work that has ended', async (t) => {
    const { tracing, finish } = await open(t);
    let leftBehind: (() => Promise<void>) | undefined;
    const left = new Promise<void>((resolve) => {
      leftBehind = () => Promise.resolve(resolve());
    });
    let later: Promise<string | undefined> | undefined;
    await tracing.span({ name: 'over' }, () => {
      later = left.then(() => currentSpan()?.traceparent);
      return Promise.resolve();
    });
    await leftBehind?.();
    assert.equal(await later, undefined);
    assert.deepEqual(spanFields(), {});
    assert.deepEqual([...(await finish()).keys()], ['over']);
  });

  it('do not apply to work that was started outside of spans', async (t) => {
    const { tracing, finish } = await open(t);
    const inside = await tracing.span({ name: 'job' }, () => outsideSpans(() => Promise.resolve(currentSpan())));
    assert.equal(inside, undefined);
    assert.deepEqual([...(await finish()).keys()], ['job']);
  });

  it('can be recorded afterwards, as children of the current span or in another trace', async (t) => {
    const { tracing, finish } = await open(t);
    // In ns, this time is no number that JavaScript holds exactly.
    const startedAt = 1_795_879_704_394;
    await tracing.span({ name: 'check', follows: { traceparent: remote, at: startedAt } }, (span) => {
      span.record({ name: 'request', startedAt });
      span.recordFollowed({ name: 'rollout' }, 'it broke');
      return Promise.resolve();
    });
    await tracing.span({ name: 'alone' }, (span) => Promise.resolve(span.recordFollowed({ name: 'of nothing' })));
    const spans = await finish();
    assert.deepEqual([...spans.keys()], ['request', 'rollout', 'check', 'alone']);
    const [check, request, rollout] = ['check', 'request', 'rollout'].map((name) => spans.get(name));
    assert.deepEqual([check?.parentId, request?.parentId], ['b7ad6b7169203331', check?.spanId]);
    assert.deepEqual([rollout?.parentId, rollout?.start, rollout?.failure], ['b7ad6b7169203331', startedAt, 'it broke']);
  });

  it('of one trace are sampled together, whichever process decides', async (t) => {
    const { tracing, finish } = await open(t, { sampleRatio: 0 });
    const context = await tracing.span({ name: 'left' }, () =>
      Promise.resolve(currentSpan()?.step({ name: 'left too' }, () => Promise.resolve(currentSpan()?.traceparent))),
    );
    assert.match(context ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    await tracing.span({ name: 'kept', parent: remote }, () => Promise.resolve());
    assert.deepEqual([...(await finish()).keys()], ['kept']);
  });

  it('are named in the log lines written in them', async (t) => {
    const { tracing, finish } = await open(t);
    const fields = await tracing.span({ name: 'here' }, () => Promise.resolve(spanFields()));
    const here = (await finish()).get('here');
    assert.deepEqual(fields, { trace_id: here?.traceId, span_id: here?.spanId });
  });

  it('are exported with the current headers', async (t) => {
    let token = 'first';
    const { tracing, collector } = await open(t, { headers: () => ({ Authorization: `Bearer ${token}` }) });
    const sent = () => collector.received.map(({ path, headers }) => `${path} ${headers.authorization}`);
    await tracing.span({ name: 'one' }, () => Promise.resolve());
    await waitFor('the first export', () => sent().includes('/v1/traces Bearer first'));
    token = 'second';
    await tracing.span({ name: 'two' }, () => Promise.resolve());
    await tracing.stop(60_000);
    assert.deepEqual(sent(), ['/v1/traces Bearer first', '/v1/traces Bearer second']);
  });

  it('that the collector rejects are lost, which is logged once, and so is its recovery', async (t) => {
    const { tracing, collector, news, finish } = await open(t);
    const exportOne = async () => {
      const before = collector.received.length;
      await tracing.span({ name: 'one' }, () => Promise.resolve());
      await waitFor('an export', () => collector.received.length > before);
    };
    collector.behave('refusing');
    await exportOne();
    await exportOne();
    await waitFor('the news', () => news.length > 0);
    collector.behave('well');
    await exportOne();
    await finish();
    assert.deepEqual(
      news.map(({ kind }) => kind),
      ['failing', 'working'],
    );
  });

  it('do not delay shutdown when the collector hangs', async (t) => {
    const { tracing, collector } = await open(t, { exportTimeoutMs: 100 });
    collector.behave('hanging');
    await tracing.span({ name: 'one' }, () => Promise.resolve());
    await tracing.stop(10);
  });
});
