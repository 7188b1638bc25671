import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { abortable, startDeadline, whenAllAborted, within } from '../../../src/core/async/deadline.ts';

const never = new Promise<never>(() => undefined);

test('a deadline aborts with its parent signal, with the same reason, and does not count as exceeded', () => {
  const outer = new AbortController();
  const running = startDeadline(60_000, outer.signal);
  outer.abort(new Error('stopped'));
  const late = startDeadline(undefined, outer.signal);
  for (const { signal, isOver, end } of [running, late]) {
    end();
    assert.match(String(signal.reason), /stopped/);
    assert.equal(isOver, false);
  }
});

test('an exceeded deadline says how long it was', async () => {
  const deadline = startDeadline(1);
  if (!deadline.signal.aborted) await once(deadline.signal, 'abort');
  assert.match(String(deadline.signal.reason), /no complete answer within 1 ms/);
  assert.equal(deadline.isOver, true);
  deadline.end();
});

test('work that several callers wait for is aborted when all of them have given up', () => {
  const [ann, bob] = [new AbortController(), new AbortController()];
  const { signal, end } = whenAllAborted([ann.signal, bob.signal]);
  ann.abort(new Error('stopped'));
  assert.equal(signal.aborted, false);
  bob.abort();
  assert.match(String(signal.reason), /stopped/);
  end();
  assert.equal(whenAllAborted([ann.signal]).signal.aborted, true);
  assert.equal(whenAllAborted([]).signal.aborted, false);
});

test('a deadline that was cancelled no longer aborts', () => {
  const outer = new AbortController();
  const deadline = startDeadline(undefined, outer.signal);
  deadline.end();
  outer.abort();
  assert.equal(deadline.signal.aborted, false);
});

test('abortable() settles with the work or the abort, whichever comes first, and rejects for a signal that is aborted already', async () => {
  const controller = new AbortController();
  assert.equal(await abortable(Promise.resolve(1), controller.signal), 1);
  assert.equal(await abortable(Promise.resolve(1)), 1);
  const waiting = abortable(never, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(abortable(Promise.resolve(1), controller.signal), /enough/);
  await assert.rejects(abortable(Promise.reject(new Error('its own')), controller.signal), /enough/);
});

test('within() returns undefined for late work, and the result of other work even if the process was suspended in between', async () => {
  assert.equal(await within(1, never), undefined);
  assert.equal(await within(60_000, Promise.resolve(1)), 1);
  await assert.rejects(within(60_000, Promise.reject(new Error('its own'))), /its own/);
  // From here on, timers come before what is set for the next turn.
  await turn();
  const arrived = new Promise((resolve) => setImmediate(resolve, 'arrived'));
  const held = within(1, arrived);
  for (const start = performance.now(); performance.now() - start < 5;);
  assert.equal(await held, 'arrived');
});
