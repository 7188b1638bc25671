/** A storm of notices, with a real Redis, queue and receiver: each is sent, or is in a summary. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { Notice } from '../../../src/core/model/notice.ts';
import { createNoticeProcessor } from '../../../src/notify/process-notice.ts';
import { exchange } from '../../../src/service/proxy/exchange.ts';
import { connectWorker } from '../../../src/service/queue/connection.ts';
import { createHeldNotices } from '../../../src/service/queue/held-notices.ts';
import { createNoticeThreads } from '../../../src/service/queue/notice-threads.ts';
import type { NoticeJob, SummaryJob } from '../../../src/service/queue/jobs.ts';
import { createWorkQueues, type QueueAccess } from '../../../src/service/queue/producer.ts';
import { readNoticeJob } from '../../../src/service/queue/read-job.ts';
import { createWorker } from '../../../src/service/queue/worker.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { startRedis, type Redis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';

const at = '2026-11-23T12:00:00Z';
const noticeOf = (index: number, kind: Notice['kind'] = 'Updated'): Notice => ({
  kind,
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: `web${index}`, uid: `u${index}` },
  at,
  tag: '1.1.0',
});

let server: Redis;
let access: QueueAccess;
before(async () => {
  server = await startRedis();
  access = { redis: connectWorker(server.url), prefix: '{iw}', onError: () => undefined };
});
after(async () => {
  access.redis.disconnect();
  await server.stop();
});

/** Until two calls are in the same minute of Redis, which counts by minutes. */
async function withinAMinute<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const minute = async () => Math.floor(Number((await access.redis.time())[0]) / 60);
    const [first, result, last] = [await minute(), await work(), await minute()];
    if (first === last) return result;
  }
}

describe('notices that exceed the limit of a target', () => {
  it('are held back in a group until the group is closed, and later notices begin another group', async () => {
    const held = createHeldNotices(access.redis, access.prefix);
    let round = 0;
    const groups = await withinAMinute(async () => {
      const target = `ops${round++}`;
      const hold = async (index: number) => (await held.hold(target, 2, `id${index}`, noticeOf(index)))?.group;
      const before = [await hold(1), await hold(2), await hold(3), await hold(4), await hold(4)];
      const { notices } = await held.close(target, 1);
      const late = await hold(5);
      const names = async (group: number) => (await held.close(target, group)).notices.map(({ subject }) => subject.name);
      const again = await names(1);
      await held.forget(target, 1);
      return { before, first: notices.map(({ subject }) => subject.name), late, again, second: await names(2), gone: await names(1) };
    });
    assert.deepEqual(groups, {
      before: [undefined, undefined, 1, 1, 1],
      first: ['web3', 'web4'],
      late: 2,
      again: ['web3', 'web4'],
      second: ['web5'],
      gone: [],
    });
  });

  it('are all sent, alone or in a summary, although the receiver fails at first', async (t) => {
    const texts: string[] = [];
    let requests = 0;
    const receiver = createServer((request, response) => {
      void text(request).then((body) => {
        if (++requests <= 3) return response.writeHead(500).end();
        texts.push(body);
        return response.writeHead(200).end();
      });
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const queues = createWorkQueues(access, Date.now);
    const chat = {
      name: 'chat',
      kind: 'slack',
      events: ['Updated', 'RolloutFailed'],
      namespaces: [],
      insecure: true,
      perMinute: 5,
    } as const;
    const process = createNoticeProcessor({
      findTarget: () => ({ ...chat, url: () => url, secret: () => '' }),
      exchange: (to, request, options) => exchange(to, request, { ...options, fetch, now: Date.now }),
      mail: () => Promise.reject(new Error('not used')),
      mayAppear: () => false,
      readOrigins: () => Promise.resolve({}),
      onResult: () => undefined,
      held: createHeldNotices(access.redis, access.prefix),
      threads: createNoticeThreads(access.redis, access.prefix),
      recordGivenUp: () => Promise.resolve(),
      // At once, instead of at the end of the minute.
      addSummary: (job) => queues.addSummaryJob(job, 0),
      count: () => undefined,
      logger: createLogger('silent'),
      now: Date.now,
    });
    const worker = createWorker<NoticeJob | SummaryJob>({
      access,
      now: Date.now,
      random: () => 0,
      queue: 'notice',
      concurrency: 4,
      read: readNoticeJob,
      process,
    });
    const kindOf = (index: number) => (index === 17 ? 'RolloutFailed' : 'Updated');
    await queues.addNoticeJobs(
      Array.from({ length: 40 }, (_, index) => ({
        schema: 1,
        target: 'chat',
        identity: [`u${index}`],
        notice: noticeOf(index, kindOf(index)),
        receivedAt: new Date().toISOString(),
      })),
    );
    worker.start();
    t.after(async () => {
      await worker.stop(1_000);
      receiver.close();
    });
    const countIn = (text: string) => Number(/(\d+) more notification/.exec(text)?.[1] ?? 1);
    await waitFor('all notices', () => Promise.resolve(texts.map(countIn).reduce((sum, count) => sum + count, 0) >= 40));
    assert.equal(
      texts.map(countIn).reduce((sum, count) => sum + count, 0),
      40,
    );
    const summaries = texts.filter((text) => text.includes('more notification'));
    assert.ok(summaries.length > 0 && texts.length < 40);
    for (const index of Array(40).keys()) assert.ok(texts.some((text) => text.includes(`web${index} `) || /and \d+ others/.test(text)));
    const failure = texts.find((text) => text.includes('shop/web17 '));
    assert.match(failure ?? '', /shop\/web17[^"]* failed|Failed to roll out \(1\)\\nshop\/web17/);
  });
});
