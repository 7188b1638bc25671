import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../../../src/service/kube/kube-error.ts';
import { retryTransient, retryOnConflict } from '../../../src/service/kube/retry.ts';

const busy = (retryAfterMs?: number, status = 429) =>
  new KubeError('PATCH /x', status, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
const options = (signal = new AbortController().signal) => ({ signal, random: () => 1, now: () => 1_000 });

function failing(...errors: Error[]) {
  let tries = 0;
  const work = async () => {
    const error = errors[tries++];
    if (error !== undefined) throw error;
    return 'done';
  };
  return { work, tries: () => tries };
}

test('a busy server is retried after the time that it requests', async () => {
  const { work, tries } = failing(busy(1), busy(undefined, 503), busy(2));
  assert.equal(await retryTransient(work, options()), 'done');
  assert.equal(tries(), 4);
});

test('a request with a long Retry-After is postponed to the queue, so that it blocks no worker', async () => {
  const { work, tries } = failing(busy(60_000));
  await assert.rejects(retryTransient(work, options()), { name: 'WaitError', until: new Date(61_000) });
  assert.equal(tries(), 1);
});

test('after four attempts the retry is left to the queue', async () => {
  const { work, tries } = failing(...Array.from({ length: 9 }, () => busy(undefined, 500)));
  await assert.rejects(retryTransient(work, options()), { name: 'KubeError', status: 500 });
  assert.equal(tries(), 4);
});

for (const error of [new Error('socket hang up'), busy(undefined, 403), busy(undefined, 422)]) {
  test(`a request that failed with "${error.message}" is not retried`, async () => {
    const { work, tries } = failing(error);
    await assert.rejects(retryTransient(work, options()), error);
    assert.equal(tries(), 1);
  });
}

const conflict = () => busy(undefined, 409);

test('after a conflict the object is read and written again at once, until the write succeeds', async () => {
  const { work, tries } = failing(conflict(), conflict(), conflict(), conflict());
  assert.equal(await retryOnConflict(work), 'done');
  assert.equal(tries(), 5);
});

test('each attempt gets the conflict of the attempt before, so that it reads the object anew', async () => {
  const conflicts = [conflict(), conflict()];
  const got: unknown[] = [];
  await retryOnConflict(async (before) => {
    got.push(before);
    const next = conflicts[got.length - 1];
    if (next !== undefined) throw next;
  });
  assert.deepEqual(got, [undefined, ...conflicts]);
});

test('after five conflicts the last one is thrown, and any other error at once', async () => {
  const often = failing(...Array.from({ length: 9 }, conflict));
  await assert.rejects(retryOnConflict(often.work), { name: 'KubeError', status: 409 });
  assert.equal(often.tries(), 5);
  const refused = failing(conflict(), busy(undefined, 422));
  await assert.rejects(retryOnConflict(refused.work), { name: 'KubeError', status: 422 });
  assert.equal(refused.tries(), 2);
});
