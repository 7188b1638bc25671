/** The durable record in a bucket, with a real server that has the API of S3 and checks every signature. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createBucketStore } from '../../../src/activity/record/bucket-store.ts';
import { openStore } from '../../../src/activity/record/open-store.ts';
import type { SegmentStore } from '../../../src/activity/record/store.ts';
import { writeRecord } from '../../../src/activity/record/write-record.ts';
import { createActivityWriter } from '../../../src/service/queue/activity-stream.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createOutbox, readOutboxState } from '../../../src/service/queue/outbox.ts';
import { noProxies } from '../../../src/core/model/proxy.ts';
import { openOutbound } from '../../../src/service/proxy/outbound.ts';
import { lacksS3Server } from '../../harness/binaries.ts';
import { startRedis } from '../../harness/redis.ts';
import { startS3, type S3 } from '../../harness/s3.ts';
import { approvalOf, factsOf, readStore } from './facts.ts';

const { signal } = new AbortController();

async function start(t: TestContext, options: Parameters<typeof startS3>[0] = {}) {
  const s3 = await startS3(options);
  t.after(() => s3.stop());
  return { s3, store: storeIn(s3) };
}

async function listOf(store: SegmentStore): Promise<number[]> {
  const found: number[] = [];
  for await (const segment of store.list(signal)) found.push(segment);
  return found;
}

function storeIn({ endpoint, bucket, key }: S3, other: { bucket?: string; secretAccessKey?: string } = {}, send: typeof fetch = fetch) {
  const credentials = () => Promise.resolve({ ...key, ...other });
  return createBucketStore({ endpoint, bucket, prefix: 'clusters/prod-eu/', region: 'us-east-1', fetch: send, ...other, credentials });
}

describe('a bucket', { skip: await lacksS3Server() }, () => {
  test('keeps each segment once, and lists all segments', async (t) => {
    const { s3, store } = await start(t);
    assert.deepEqual([await store.last(signal), await store.read(1, signal)], [undefined, undefined]);
    assert.deepEqual([await store.put(1, 'ä\n', signal), await store.put(1, 'b\n', signal)], [true, false]);
    for (const segment of [2, 3, 40]) assert.equal(await store.put(segment, `${segment}\n`, signal), true);
    assert.deepEqual([await store.read(1, signal), await store.last(signal)], ['ä\n', 40]);
    assert.deepEqual(await listOf(store), [1, 2, 3, 40]);
    assert.deepEqual(readdirSync(join(s3.folder, 'clusters/prod-eu')).length, 4);
    // Old segments may be removed after their time.
    for (const segment of ['0000000001', '0000000002']) rmSync(join(s3.folder, `clusters/prod-eu/${segment}.jsonl`));
    assert.deepEqual(await listOf(store), [3, 40]);
    assert.equal(await store.last(signal), 40);
  });

  test('gets each entry once from replicas that write simultaneously, also after an outage', async (t) => {
    const { s3, store } = await start(t);
    const redis = await startRedis();
    const connection = connectWorker(redis.url);
    t.after(async () => {
      connection.disconnect();
      await redis.stop();
    });
    const note = createActivityWriter({ redis: connection, prefix: '{r}', isKept: true }, Date.now);
    const ports = { outbox: createOutbox(connection, '{r}'), describe: factsOf, source: '/test' };
    const replicas = Array.from({ length: 3 }, () => ({ ...ports, store: storeIn(s3) }));
    const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
    for (const name of names.slice(0, 20)) {
      await note(approvalOf(name));
      await Promise.all(replicas.map((replica) => writeRecord(replica, signal)));
    }
    await s3.kill9();
    for (const name of names.slice(20)) await note(approvalOf(name));
    await assert.rejects(writeRecord({ ...ports, store }, signal), /refused|ECONN|closed/i);
    assert.equal((await readOutboxState(connection, '{r}')).waiting, 10);
    await s3.restart();
    await Promise.all(replicas.map((replica) => writeRecord(replica, signal)));
    const found = await readStore(store);
    assert.deepEqual(found.names, names);
    assert.deepEqual([found.verified.ok, (await readOutboxState(connection, '{r}')).waiting], [true, 0]);
  });

  test('is written to with the key of the configuration, or else with the AWS identity of the process', async (t) => {
    const { s3 } = await start(t);
    const outbound = openOutbound(noProxies);
    t.after(() => outbound.close());
    const { endpoint, bucket, key } = s3;
    const place = { endpoint, bucket, region: 'us-east-1', prefix: '' };
    const configured = await openStore({ intervalMs: 1_000, place: { ...place, key: () => key } }, outbound);
    assert.equal(await configured.put(1, 'a\n', signal), true);
    process.env['AWS_ACCESS_KEY_ID'] = key.accessKeyId;
    process.env['AWS_SECRET_ACCESS_KEY'] = key.secretAccessKey;
    t.after(() => ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].forEach((name) => delete process.env[name]));
    const own = await openStore({ intervalMs: 1_000, place }, outbound);
    assert.deepEqual([await own.put(2, 'b\n', signal), await own.read(1, signal)], [true, 'a\n']);
  });

  test('is refused as a store if it overwrites an object in spite of the condition of the request', async (t) => {
    const { store } = await start(t, { conditional: false });
    await assert.rejects(store.put(1, 'a\n', signal), /overwrites objects/);
  });

  test('causes an error with its status and code, but without the secret key, when it refuses a request', async (t) => {
    const { s3, store } = await start(t);
    for (const [refused, why] of [
      [storeIn(s3, { secretAccessKey: 'a-wrong-secret' }), /403 SignatureDoesNotMatch/],
      [storeIn(s3, { bucket: 'missing' }), /404 NoSuchBucket/],
    ] as const) {
      for (const act of [() => refused.put(1, 'a\n', signal), () => refused.read(1, signal), () => refused.last(signal)])
        await assert.rejects(act, (error: Error) => why.test(error.message) && !error.message.includes('secret'));
    }
    s3.freeze();
    t.after(() => s3.thaw());
    await assert.rejects(store.read(1, AbortSignal.abort(new Error('stopped'))), /stopped|request to/);
  });
});
