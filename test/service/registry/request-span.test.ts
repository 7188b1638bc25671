import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordInSpan } from '../../../src/service/registry/request-span.ts';
import { openTraces } from '../../harness/traces.ts';

for (const [status, failure] of [
  [200, undefined],
  [404, undefined],
  [401, undefined],
  [429, 'the registry answered 429'],
  [503, 'the registry answered 503'],
  ['error', 'there was no response'],
] as const)
  test(`the span of a request answered ${status} is ${failure === undefined ? 'not ' : ''}a failed span`, async (t) => {
    const { tracing, finish } = await openTraces(t);
    const request = { host: 'r.example.com:5000', kind: 'manifest', method: 'HEAD', status, durationMs: 5 } as const;
    recordInSpan(request);
    await tracing.span({ name: 'job' }, () => Promise.resolve(recordInSpan(request)));
    const [span, job, ...others] = await finish();
    assert.deepEqual([others, span?.parentId, span?.kind], [[], job?.spanId, 'client']);
    assert.deepEqual(
      [span?.name, span?.failure, span?.attributes['server.address'], span?.attributes['server.port']],
      ['HEAD manifest', failure, 'r.example.com', 5_000],
    );
  });
