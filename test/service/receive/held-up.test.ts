import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectProducer } from '../../../src/service/queue/connection.ts';
import { holdUp } from '../../harness/hold-up.ts';
import type { StorePushes } from '../../../src/service/receive/answer-delivery.ts';
import { startRedis } from '../../harness/redis.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { post } from './post.ts';
import { startApp } from './start-app.ts';

/** Longer than commands and answers are given here. */
const tooLongMs = 500;

test('a push that Redis confirmed is answered 202 even if this process was suspended beyond its deadline', async (t) => {
  const redis = await startRedis();
  const connection = connectProducer(redis.url, 350);
  connection.on('error', () => undefined);
  t.after(async () => {
    connection.disconnect();
    await redis.stop();
  });
  await waitFor('Redis to answer', async () => (await connection.ping()) === 'PONG');
  const storePushes: StorePushes = async (events) => {
    const stored = connection.set('push', 'stored');
    // Commands leave at the end of a turn.
    await new Promise(setImmediate);
    holdUp(redis.port, tooLongMs);
    await stored;
    return events;
  };
  const world = await startApp(t, {}, { storePushes, confirmWithinMs: 450 });
  assert.equal((await post(world)).statusCode, 202);
});
