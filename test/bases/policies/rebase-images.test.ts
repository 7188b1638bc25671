import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { base, imageOf, now, rebase, run } from './acting.ts';
import { workloadOf } from '../../core/model/samples.ts';

const images = (names: string) => names.split('').map((name) => imageOf(name));
const refused = { refused: { reason: 'UserChanged', message: 'the user is another one' } };
const inWavesOf = (maxParallel: number, more: object = {}) => ({ onNewBase: [rebase], waves: { maxParallel, ...more } });

describe('rebasing in waves', () => {
  it('rebases the first wave, rolls it out, then rebases the second wave, and checks whether later images could be rebased', async () => {
    const all = images('abcdef');
    const { steps, status, stateOf } = await run(inWavesOf(2), all);
    assert.deepEqual(steps, [
      'rebase shop/a',
      'rebase shop/b',
      'create for harbor.example.com/shop/a',
      'create for harbor.example.com/shop/b',
      'rebase shop/c',
      'rebase shop/d',
      'plan shop/e',
      'plan shop/f',
    ]);
    assert.deepEqual(
      all.map((image) => [stateOf(image)?.state, stateOf(image)?.reason]),
      [...Array.from({ length: 4 }, () => ['Rebased', undefined]), ['Behind', 'WavePending'], ['Behind', 'WavePending']],
    );
    assert.deepEqual([status.waves?.pending, status.waves?.progressing], [4, 2]);
  });

  it('gives the place of a refused image to the next one, and counts no image that would be refused', async () => {
    const all = images('abcdefg');
    const rebased = (path: string) => (['shop/a', 'shop/f'].includes(path) ? refused : undefined);
    const { created, steps, status, stateOf } = await run(inWavesOf(2), all, { rebased });
    assert.deepEqual(
      created.map(({ spec }) => spec.image),
      ['harbor.example.com/shop/b', 'harbor.example.com/shop/c'],
    );
    assert.equal(steps.filter((step) => step.startsWith('plan')).join(), 'plan shop/f,plan shop/g');
    assert.deepEqual(
      all.filter((image) => stateOf(image)?.state === 'Refused').map(({ source }) => source.path),
      ['shop/a', 'shop/f'],
    );
    assert.deepEqual([status.waves?.pending, status.waves?.progressing], [3, 2]);
  });

  it('rebases the canaries, and the images of the next wave before the canaries have rolled out', async () => {
    const all = images('abcd');
    const { steps } = await run(inWavesOf(1, { canaries: { matchLabels: { canary: 'true' } } }), all, {
      findWorkload: ({ name }) =>
        workloadOf({ app: `harbor.example.com/shop/${name}:1.2.3` }, { name, labels: { canary: String(name === 'd') } }),
    });
    assert.deepEqual(steps, ['rebase shop/d', 'create for harbor.example.com/shop/d', 'rebase shop/a', 'plan shop/b', 'plan shop/c']);
  });

  it('continues without an image whose registry fails, and retries this image', async () => {
    const all = images('abc');
    const { created, stateOf, until } = await run(inWavesOf(1), all, {
      rebased(path) {
        if (path === 'shop/a') throw new Error('the registry answered 503');
        return undefined;
      },
    });
    assert.deepEqual(
      [created.map(({ spec }) => spec.image), stateOf(all[0] ?? imageOf(''))?.reason],
      [['harbor.example.com/shop/b'], 'Retrying'],
    );
    assert.deepEqual(until, new Date(now + 60_000));
  });

  it('plans few images ahead at a time, so that the policy can follow its wave', async () => {
    const all = Array.from({ length: 40 }, (_, index) => imageOf(`app-${String(index).padStart(2, '0')}`));
    const { steps, until, status } = await run(inWavesOf(5), all);
    const count = (what: string) => steps.filter((step) => step.startsWith(what)).length;
    assert.deepEqual([count('rebase'), count('plan'), until], [10, 16, new Date(now + 1_000)]);
    assert.equal(status.waves?.pending, 35);
  });

  describe('of a base in between, which no workload runs', () => {
    const framework = imageOf('framework', { workloads: [] });

    it('begins immediately without canaries', async () => {
      const { steps } = await run(inWavesOf(1), [...images('ab'), framework]);
      assert.deepEqual(steps.slice(0, 3), ['rebase shop/a', 'rebase shop/framework', 'create for harbor.example.com/shop/a']);
    });

    it('waits for the canaries, whose failure would stop the base before its applications run it', async () => {
      const canaries = { canaries: { matchLabels: { canary: 'true' } } };
      const { steps, stateOf } = await run(inWavesOf(1, canaries), [...images('ab'), framework], {
        findWorkload: ({ name }) =>
          workloadOf({ app: `harbor.example.com/shop/${name}:1.2.3` }, { name, labels: { canary: String(name === 'a') } }),
      });
      assert.deepEqual(steps, ['rebase shop/a', 'create for harbor.example.com/shop/a', 'rebase shop/b', 'plan shop/framework']);
      assert.deepEqual(
        [stateOf(framework)?.reason, stateOf(framework)?.message],
        ['WavePending', 'it is rebased when the canaries have rolled out'],
      );
    });
  });
});

describe('an image that was rebased on a base which is now rejected', () => {
  const rejected = { rejected: [{ ...base, at: new Date(now - 60_000).toISOString(), message: 'web crashes' }] };
  const [web, api] = [imageOf('web'), imageOf('api')];
  const messageOf = (state: { readonly message?: string } | undefined) => state?.message?.split(' again')[1];

  it('is deleted or marked as rejected, and the status says which of the two', async () => {
    const { steps, stateOf, until } = await run(inWavesOf(1), [web, api], {
      status: rejected,
      discarded: (path) => ({ tag: '1.2.3-base.20261123', result: path === 'shop/web' ? 'Deleted' : 'Kept' }),
    });
    assert.deepEqual(steps, ['discard shop/web:1.2.3-base.20261123: web crashes', 'discard shop/api:1.2.3-base.20261123: web crashes']);
    assert.deepEqual(
      [messageOf(stateOf(web)), messageOf(stateOf(api)), until],
      [
        ' (harbor.example.com/shop/web:1.2.3-base.20261123 was deleted): web crashes',
        ' (harbor.example.com/shop/api:1.2.3-base.20261123 is marked as rejected, and its registry keeps it): web crashes',
        undefined,
      ],
    );
  });

  it('is kept as long as something in the cluster runs it, and its deletion is retried', async () => {
    const inUse = ['shop/web:1.2.3-base.20261123'];
    const { stateOf, until } = await run(inWavesOf(1), [web], { status: rejected, inUse });
    assert.match(messageOf(stateOf(web)) ?? '', /is deleted when nothing runs it any more/);
    assert.deepEqual(until, new Date(now + 60_000));
  });

  it('is not deleted any more an hour after the rejection', async () => {
    const [one] = rejected.rejected;
    const old = { rejected: [{ ...one, at: new Date(now - 3_601_000).toISOString() }] };
    assert.deepEqual((await run(inWavesOf(1), [web], { status: old })).steps, []);
  });
});
