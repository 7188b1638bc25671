import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectProducer, type RedisConnection } from '../../../src/service/queue/connection.ts';
import { freePort } from '../../harness/free-port.ts';
import { inspect, monitorRedis } from '../../../src/service/queue/redis-health.ts';

const well = 'role:master\r\nused_memory:10\r\nmaxmemory:100\r\naof_enabled:1\r\nmaxmemory_policy:noeviction\r\n';
const replica = well.replace('master', 'slave');
const timeoutError = new Error('Command timed out');

/** A connection that gives these answers, one for each INFO; looks are asked for by its `ready`. */
function monitor(answers: (string | Error)[]) {
  const reconnects: boolean[] = [];
  const connection = Object.assign(new EventEmitter(), {
    status: 'ready',
    disconnect: (reconnect: boolean) => void reconnects.push(reconnect),
    info: () => {
      const answer = answers.shift() ?? new Error('asked too often');
      return typeof answer === 'string' ? Promise.resolve(answer) : Promise.reject(answer);
    },
  });
  const told: boolean[] = [];
  const watch = monitorRedis(connection as unknown as RedisConnection, '{p}', ({ reachable }) => told.push(reachable), 3_600_000);
  const checkOnce = async () => {
    connection.emit('ready');
    for (let turns = 0; turns < 5; turns++) await turn();
    return watch.health().reachable;
  };
  const setStatus = (status: string) => void (connection.status = status);
  return { look: checkOnce, told, reconnects, setStatus, stop: () => watch.stop() };
}

test('one late answer of Redis refuses no delivery', async () => {
  const { look: checkOnce, told: reportedStates, stop } = monitor([well, timeoutError, well, well]);
  assert.deepEqual([await checkOnce(), await checkOnce(), await checkOnce()], [true, true, true]);
  assert.deepEqual(reportedStates, [true]);
  stop();
});

test('two late answers or a lost connection refuse deliveries until the next good answer', async () => {
  const {
    look: checkOnce,
    told: reportedStates,
    stop,
  } = monitor([well, timeoutError, timeoutError, timeoutError, well, new Error('Connection is closed.'), well]);
  const looks = [];
  for (let count = 0; count < 6; count++) looks.push(await checkOnce());
  assert.deepEqual(looks, [true, false, false, true, false, true]);
  assert.deepEqual(reportedStates, [true, false, true, false, true]);
  stop();
});

test('a connection to a replica is replaced, but not one that is being made: ioredis would end it', async () => {
  const { look: checkOnce, reconnects, setStatus, stop } = monitor([well, replica, replica]);
  assert.deepEqual([await checkOnce(), await checkOnce()], [true, false]);
  assert.deepEqual(reconnects, [true]);
  setStatus('connecting');
  assert.equal(await checkOnce(), false);
  assert.deepEqual(reconnects, [true]);
  stop();
});

test('without a connection to Redis, its health says so, and nothing of the options of the client', async () => {
  const redis = connectProducer(`redis://127.0.0.1:${await freePort()}`);
  redis.on('error', () => undefined);
  assert.deepEqual(await inspect(redis, '{p}'), { reachable: false, memoryShare: 0, error: 'there is no connection to it' });
  redis.disconnect();
});

test('a slow first connection to Redis is not reported as missing, and its error is reported with what to do', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  const connection = Object.assign(new EventEmitter(), {
    status: 'connecting',
    info: () => Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false")),
  });
  const reported: (string | undefined)[] = [];
  const watch = monitorRedis(connection as unknown as RedisConnection, '{p}', ({ error }) => reported.push(error));
  mock.timers.tick(3_000);
  await turn();
  assert.deepEqual(reported, []);
  connection.emit('error', new Error('connect ECONNREFUSED 127.0.0.1:1'));
  await turn();
  mock.timers.tick(3_000);
  await turn();
  assert.deepEqual(reported, ['connect ECONNREFUSED 127.0.0.1:1']);
  watch.stop();
  mock.timers.reset();
});
