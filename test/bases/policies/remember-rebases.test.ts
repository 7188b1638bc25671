import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBasePolicy } from '../../../src/bases/resource/read-base-policy.ts';
import { rememberRebases } from '../../../src/bases/policies/remember-rebases.ts';
import type { RebaseOrder, RebaseResult } from '../../../src/bases/policies/rebase-images.ts';
import { isUsableBase } from '../../../src/core/model/base-policy.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const minute = 60_000;
const discard = () => Promise.reject(new Error('no base is rejected'));
const permit = { signal: new AbortController().signal, confirm: () => Promise.resolve() };

function orderOf(generation = 1, annotations: object = {}): RebaseOrder {
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation, annotations };
  const onNewBase = [{ rebase: { images: ['*'], pushSecret: { name: 'rebaser' } } }];
  const policy = readBasePolicy(
    { metadata, spec: { image: 'harbor.example.com/library/base-java', select: { semver: {} }, workloads: [{}], onNewBase } },
    { aliases: new Map(), customTargets: [] },
  );
  assert.ok(isUsableBase(policy.spec));
  const [action] = policy.spec.onNewBase;
  assert.ok(action?.kind === 'rebase');
  const source = { registry: 'harbor.example.com', path: 'shop/web' };
  return {
    policy: { ...policy, spec: policy.spec },
    action,
    image: { source, tag: '1.2.3', digest: digest('a'), isPinned: false, base: digest('0'), workloads: [] },
    base: { tag: '21.0.2', digest: digest('b') },
    date: new Date('2026-11-23T10:00:00Z'),
    isOnlyPlanned: false,
  };
}

/** Asks for rebases one after the other, with a time before each in ms; returns how often the registry was asked. */
async function countOf(asked: readonly [afterMs: number, order: RebaseOrder][], result: RebaseResult): Promise<number> {
  let [now, count] = [0, 0];
  const { rebase } = rememberRebases(
    {
      rebase() {
        count += 1;
        return Promise.resolve(result);
      },
      discard,
    },
    () => now,
  );
  for (const [afterMs, order] of asked) {
    now += afterMs;
    assert.deepEqual(await rebase(order, permit), result);
  }
  return count;
}

describe('rememberRebases', () => {
  const order = orderOf();
  const rebased = { tag: '1.2.3-base.20261123', digest: digest('c') };
  const refused = { refused: { reason: 'UserChanged', message: 'the user changes' } };

  it('requests the same rebase once, and again after an hour', async () => {
    const steps = [0, 10 * minute, 40 * minute].map((after): [number, RebaseOrder] => [after, orderOf()]);
    assert.equal(await countOf(steps, rebased), 1);
    assert.equal(await countOf([...steps, [11 * minute, order]], rebased), 2);
  });

  it('requests again for another image, base, old base, its tags, repository, date or access, and to write a planned one', async () => {
    const { image, base } = order;
    const others: RebaseOrder[] = [
      { ...order, image: { ...image, digest: digest('d') } },
      { ...order, image: { ...image, tag: '1.2.4' } },
      { ...order, image: { ...image, base: digest('1') } },
      { ...order, image: { ...image, source: { ...image.source, path: 'shop/api' } } },
      { ...order, base: { ...base, digest: digest('e') } },
      { ...order, base: { ...base, tags: ['latest', '21.0.2'] } },
      { ...order, date: new Date('2026-11-24T10:00:00Z') },
      { ...order, isOnlyPlanned: true },
      {
        ...order,
        image: { ...image, source: { ...image.source, access: { secrets: [{ namespace: 'shop', name: 'pull', namedBy: 'policy' }] } } },
      },
    ];
    assert.equal(
      await countOf(
        [order, ...others].map((one) => [0, one]),
        rebased,
      ),
      others.length + 1,
    );
  });

  it('requests a rebase again when the policy has changed or a user requests it', async () => {
    const again = orderOf(1, { 'operator.technomad.dev/requested-at': '2026-11-23T10:00:00Z' });
    assert.equal(
      await countOf(
        [order, orderOf(2), again].map((one) => [0, one]),
        rebased,
      ),
      3,
    );
  });

  it('requests the rebase of a refused image again after a minute', async () => {
    assert.equal(
      await countOf(
        [
          [0, order],
          [30_000, order],
        ],
        refused,
      ),
      1,
    );
    assert.equal(
      await countOf(
        [
          [0, order],
          [minute, order],
        ],
        refused,
      ),
      2,
    );
  });

  it('does not remember a failure', async () => {
    let count = 0;
    const { rebase } = rememberRebases({ rebase: () => Promise.reject(new Error(`attempt ${++count}`)), discard }, () => 0);
    await assert.rejects(rebase(order, permit), /attempt 1/);
    await assert.rejects(rebase(order, permit), /attempt 2/);
  });

  it('knows which rebases it would not request again', async () => {
    let now = 0;
    const port = rememberRebases({ rebase: () => Promise.resolve(refused), discard }, () => now);
    await port.rebase(order, permit);
    assert.deepEqual([port.isRebaseKnown(order), port.isRebaseKnown({ ...order, isOnlyPlanned: true })], [true, false]);
    now += minute;
    assert.equal(port.isRebaseKnown(order), false);
  });

  it('discards an image that is not in use once an hour, and rebases again after a discard', async () => {
    const asked: string[] = [];
    let result: 'InUse' | 'Deleted' = 'InUse';
    const port = rememberRebases(
      {
        rebase: () => Promise.resolve(rebased).finally(() => asked.push('rebase')),
        discard: () => Promise.resolve({ tag: rebased.tag, result }).finally(() => asked.push('discard')),
      },
      () => 0,
    );
    const take = () => port.discard(order, { message: '', isInUse: () => false }, permit);
    await port.rebase(order, permit);
    await take();
    result = 'Deleted';
    await take();
    assert.deepEqual([await take(), await port.rebase(order, permit)], [{ tag: rebased.tag, result }, rebased]);
    assert.deepEqual(asked, ['rebase', 'discard', 'discard', 'rebase']);
  });

  it('rebases again after a release, because another replica may have discarded the rebased image', async () => {
    const released = orderOf(1, { 'operator.technomad.dev/release': '2026-11-23T10:00:00Z' });
    const steps = [order, released].map((one): [number, RebaseOrder] => [0, one]);
    assert.equal(await countOf(steps, rebased), 2);
  });
});
