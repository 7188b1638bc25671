import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import { createPacer } from '../../../src/bases/triggers/pace.ts';

const now = Date.parse('2026-11-23T12:00:00Z');

function start(pause: (ms: number) => Promise<unknown> = () => Promise.resolve()) {
  const pacer = createPacer({ now: () => now, random: () => 0.5, pause });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Work that lasts until it is ended, as a request that is not answered. */
  const request = (key: string) =>
    pacer.run(key, () => {
      begun.push(key);
      return new Promise((resolve) => ends.push(resolve));
    });
  return { pacer, begun, request, end: () => ends.shift()?.() };
}

describe('createPacer', () => {
  it('does not let a pipeline that does not answer delay the others', async () => {
    const { begun, request, end } = start();
    const waiting = [request('hung'), request('hung')];
    await assert.rejects(request('hung'), (error) => error instanceof WaitError && error.until.getTime() === now + 5_500);
    waiting.push(request('fine'));
    assert.deepEqual(begun, ['hung', 'hung', 'fine']);
    end();
    await waiting[0];
    waiting.push(request('hung'));
    assert.equal(begun.length, 4, 'there is room again');
    for (const _ of waiting) end();
    await Promise.all(waiting);
  });

  it('sends at most five requests a second to each pipeline, however fast it answers', async () => {
    const pauses: number[] = [];
    let release = () => {};
    const { pacer } = start((ms) => {
      pauses.push(ms);
      return new Promise<void>((resolve) => (release = resolve));
    });
    const first = pacer.run('a', () => Promise.resolve());
    const second = pacer.run('a', () => Promise.resolve());
    await assert.rejects(
      pacer.run('a', () => Promise.resolve()),
      WaitError,
    );
    assert.deepEqual(pauses, [400, 400]);
    release();
    await second;
    const third = pacer.run('a', () => Promise.reject(new Error('answered 503')));
    release();
    await assert.rejects(third, /503/);
    void first;
  });
});
