/** The model of the records of pushes says what the real ones say, after the same random writes to a real Redis. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PushEvent } from '../../src/core/model/push-event.ts';
import { connectWorker } from '../../src/service/queue/connection.ts';
import { createEventLog, type EventLog, type PolicyResult } from '../../src/service/queue/event-log.ts';
import { eventKeys, readHash } from '../../src/service/queue/event-record.ts';
import { resultRanks } from '../../src/service/queue/record-result.ts';
import { startRedis } from '../harness/redis.ts';
import { createEventLogModel } from './event-log-model.ts';

const receivedAt = '2026-03-01T12:00:00.000Z';
const pushOf = (id: string): PushEvent => ({
  id,
  receiver: 'prod',
  provider: 'harbor',
  repository: { registry: 'r.example.com', path: 'shop/web' },
  tag: '1.0.0',
  receivedAt,
});

const id = fc.constantFrom('one', 'two');
const policy = fc.constantFrom('shop/web', 'shop/api');
const kinds = Object.keys(resultRanks) as PolicyResult['kind'][];
const change = (container: string) => ({
  workload: { kind: 'Deployment', namespace: 'shop', name: 'web' },
  container,
  index: 0,
  from: 'web:1.0.0',
  to: 'web/"é":1.1.0',
});
const result: fc.Arbitrary<PolicyResult> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    afterMs: fc.nat(10_000),
    changes: fc.subarray(['web', 'side', 'init'], { minLength: 0 }),
    verifiedMs: fc.option(fc.nat(500)),
    stage: fc.constantFrom(undefined, undefined, 'guard' as const, 'replaced' as const, 'rollout' as const, 'waves' as const),
    isMeasured: fc.boolean(),
    isFound: fc.boolean(),
    hasRead: fc.constantFrom(undefined, 'r.example.com/shop/web', 'r.example.com/other'),
  })
  .map(({ kind, afterMs, changes, verifiedMs, stage, isMeasured, isFound, hasRead }) => ({
    kind,
    reason: 'UpToDate',
    message: `it ended as ${kind}`,
    at: new Date(Date.parse(receivedAt) + afterMs).toISOString(),
    ...(isMeasured && { afterMs }),
    ...(isFound && { isFound }),
    ...(changes.length > 0 && { changes: changes.map(change) }),
    ...(verifiedMs !== null && { verifiedMs }),
    ...(stage !== undefined && { stage }),
    ...(hasRead !== undefined && { hasRead }),
  }));

/** A write, with a text for the story of a failed run. */
interface Write {
  readonly text: string;
  run(log: EventLog): Promise<void>;
}
const write = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ id, policy, result, isFirst: fc.boolean() }).map(({ id, policy, result, isFirst }): Write => ({
      text: `${id} ${policy} ${result.kind} ${result.afterMs} ${result.changes?.length ?? 0} ${result.stage ?? ''}`,
      run: (log) => log.recordResult(id, policy, result, isFirst ? pushOf(id) : undefined),
    })),
  },
  fc
    .tuple(id, fc.uniqueArray(policy))
    .map(([id, policies]): Write => ({ text: `${id} matched ${policies.join()}`, run: (log) => log.matched(pushOf(id), policies) })),
  id.map((id): Write => ({ text: `${id} unwatched`, run: (log) => log.unwatched(pushOf(id), new Date(receivedAt)) })),
  fc.tuple(id, policy, fc.nat(11)).map(([id, policy, target]): Write => ({
    text: `${id} ${policy} notice ${target}`,
    run: (log) =>
      log.recordGivenUp(id, policy, {
        target: `t${target}`,
        kind: 'Updated',
        reason: 'Refused',
        at: new Date(Date.parse(receivedAt) + target).toISOString(),
      }),
  })),
);

test('random writes leave the same records in the model as in Redis', { timeout: 300_000 }, async (t) => {
  const redis = await startRedis();
  const connection = connectWorker(redis.url);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  let runs = 0;
  const sequence = fc.array(write, { minLength: 1, maxLength: 25 });
  const named = sequence.map((writes) => ({ writes, toString: () => writes.map(({ text }) => text).join('; ') }));
  await fc.assert(
    fc.asyncProperty(named, async ({ writes }) => {
      const prefix = `{p${++runs}}`;
      const real = createEventLog({ redis: connection, prefix }, assert.ifError);
      const model = createEventLogModel();
      const modelled = model.connect();
      for (const { run } of writes) {
        await run(real);
        await run(modelled);
      }
      for (const one of ['one', 'two']) {
        const record = readHash(await connection.hgetall(eventKeys(prefix).hash(one)));
        assert.deepEqual(model.read(one), record);
      }
    }),
    { numRuns: 100 },
  );
});
