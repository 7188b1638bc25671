/** What the health of Redis means for pushes and for whoever runs the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeHealth, refusalOf, stateOf } from '../../../src/service/queue/redis-state.ts';

const url = 'redis://user:secret@redis.example.com:6379/2';
const well = { reachable: true, memoryShare: 0.5 };
const volatile = { ...well, durabilityProblem: 'appendonly is no' };
const refused = { setting: 'password', why: 'WRONGPASS', remedy: 'correct it' } as const;

test('pushes are refused by a Redis that is too full, and by one that may lose them only where that is enforced', () => {
  assert.equal(refusalOf({ ...well, memoryShare: 0.8 }, 'enforce'), undefined);
  assert.equal(refusalOf({ ...well, memoryShare: 0.81 }, 'ignore'), 'Redis uses 81 % of its maxmemory');
  assert.equal(refusalOf(volatile, 'warn'), undefined);
  assert.equal(refusalOf(volatile, 'enforce'), 'redis.durability is enforce: appendonly is no');
});

test('the error of Redis is shown instead of other details of its health', () => {
  assert.equal(describeHealth({ reachable: true, memoryShare: 0 }), undefined);
  assert.equal(describeHealth(volatile), 'appendonly is no; 50 % of maxmemory in use');
  assert.equal(describeHealth({ ...volatile, error: 'no answer' }), 'no answer');
});

test('a Redis that may lose pushes is reported unless durability is set to ignore', () => {
  assert.deepEqual(stateOf(well, { url, durability: 'enforce' }), { kind: 'ready' });
  assert.deepEqual(stateOf(volatile, { url, durability: 'warn' }), { kind: 'mayLosePushes', why: 'appendonly is no' });
  assert.deepEqual(stateOf(volatile, { url, durability: 'ignore' }), { kind: 'ready' });
});

test('a refused password is reported with the setting that contains it, and without the login', () => {
  const health = { reachable: false, memoryShare: 0, error: 'WRONGPASS', failure: refused };
  const redis = 'redis://redis.example.com:6379/2';
  const stateWith = (settings: { url: string; password?: unknown }) => stateOf(health, { durability: 'warn', ...settings });
  const silent = { kind: 'silent', redis, why: 'WRONGPASS' };
  assert.deepEqual(stateWith({ url }), { ...silent, correction: { setting: 'url', remedy: 'correct it' } });
  assert.deepEqual(stateWith({ url, password: { env: 'P' } }), { ...silent, correction: { setting: 'password', remedy: 'correct it' } });
  assert.deepEqual(stateWith({ url: redis }), { ...silent, correction: { setting: 'password', remedy: 'correct it' } });
});

test('a Redis that answers with another database is reported with the setting that names it', () => {
  const failure = { setting: 'url', why: 'no such database', remedy: 'set another' } as const;
  assert.deepEqual(stateOf({ ...well, failure }, { url, durability: 'warn' }), {
    kind: 'otherDatabase',
    redis: 'redis://redis.example.com:6379/2',
    correction: { setting: 'url', remedy: 'set another' },
  });
});
