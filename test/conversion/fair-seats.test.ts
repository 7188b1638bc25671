import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFairSeats, type ReleaseSeat, type SeatOptions } from '../../src/conversion/fair-seats.ts';

const end = new AbortController();
const never = end.signal;
// Who still waits then would keep the process.
after(() => end.abort());

/** Seats, and in which order they were given. */
function start(options: Partial<SeatOptions> = {}) {
  const { take } = createFairSeats({ seats: 1, seatsPerFlow: 1, maxQueuedPerFlow: 100, maxWaitMs: 600_000, ...options });
  const served: string[] = [];
  const seats: ReleaseSeat[] = [];
  const enter = async (flow: string, signal = never) => {
    const seat = await take(flow, signal);
    served.push(seat === undefined ? `-${flow}` : flow);
    if (seat !== undefined) seats.push(seat);
  };
  const leave = async () => {
    seats.shift()?.();
    await turn();
  };
  return { enter, leave, served };
}

test('flows of conversion requests take turns, however many requests of one flow wait', async () => {
  const { enter, leave, served } = start();
  for (let count = 0; count < 4; count++) void enter('a');
  void enter('b');
  void enter('c');
  void enter('b');
  for (let count = 0; count < 7; count++) await leave();
  assert.equal(served.join(''), 'aabcaba');
});

test('a flow has its share of the seats, and no more while another flow could use them', async () => {
  const { enter, leave, served } = start({ seats: 4, seatsPerFlow: 2 });
  for (let count = 0; count < 5; count++) void enter('a');
  await turn();
  assert.equal(served.join(''), 'aa');
  void enter('b');
  await turn();
  assert.equal(served.join(''), 'aab');
  await leave();
  assert.equal(served.join(''), 'aaba');
});

test('a request gets no seat if its flow has too many, if it waited too long or if it left, and delays no other', async () => {
  const { enter, leave, served } = start({ maxQueuedPerFlow: 2, maxWaitMs: 600_000 });
  const disconnected = new AbortController();
  void enter('a');
  void enter('a', disconnected.signal);
  void enter('a');
  void enter('a');
  await turn();
  assert.deepEqual(served, ['a', '-a']);
  disconnected.abort();
  await turn();
  assert.deepEqual(served, ['a', '-a', '-a']);
  void enter('b');
  await leave();
  await leave();
  assert.deepEqual(served.slice(3).sort(), ['a', 'b']);
  await leave();
  void enter('a');
  await turn();
  assert.equal(served.at(-1), 'a', 'the seat is free again');

  const hurried = start({ maxWaitMs: 1 });
  void hurried.enter('a');
  await hurried.enter('b');
  assert.deepEqual(hurried.served, ['a', '-b']);
});

test('a seat that is released twice becomes free once', async () => {
  const { take } = createFairSeats({ seats: 1, seatsPerFlow: 1, maxQueuedPerFlow: 1, maxWaitMs: 600_000 });
  const seat = await take('a', never);
  seat?.();
  seat?.();
  assert.ok(await take('a', never));
  const { promise: waiting, resolve } = Promise.withResolvers<string>();
  const enter = async () => {
    await take('b', never);
    resolve('seated');
  };
  void enter();
  assert.equal(await Promise.race([waiting, turn('waits')]), 'waits');
});
