/** Who may hold a policy, end the hold, and promote an image. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeRequest } from '../harness/kube-request.ts';

interface Scene {
  readonly namespace: string;
  readonly as: Readonly<Record<'owner', KubeRequest>>;
  readonly whoMay: (method: string, where: string, body?: object) => Promise<string[]>;
  /** The path of a policy. */
  readonly web: string;
}

/** The tests of the annotations hold and promote. */
export function describeHolds({ namespace, as, whoMay, web }: Scene): void {
  const holds = (text: string | null) => ({ metadata: { annotations: { 'operator.technomad.dev/hold': text } } });
  const own = (name: string) => `2026-03-01T12:00:00Z system:serviceaccount:${namespace}:${name}`;
  const mayRelease = ['developer', 'owner', 'approver'];

  describe('the annotations hold and promote', () => {
    it('let those who may release a policy hold it, without a name or in their own name', async () => {
      assert.deepEqual(await whoMay('PATCH', web, holds('2026-03-01T12:00:00Z')), mayRelease);
      assert.deepEqual(await whoMay('PATCH', web, holds('2026-03-01T12:00:00Z\nsale')), mayRelease);
      for (const name of mayRelease) {
        assert.deepEqual(await whoMay('PATCH', web, holds(own(name))), [name]);
        assert.deepEqual(await whoMay('PATCH', web, holds(`${own(name)}\nsale until Monday`)), [name]);
      }
      assert.deepEqual(await whoMay('PATCH', web, holds(`2026-03-01T12:00:00Z ada ${own('owner').slice(21)}`)), []);
    });

    it('let only those who may release a policy change or remove a hold, but all who may change the policy keep it', async () => {
      await as.owner('PATCH', web, holds(own('owner')));
      assert.deepEqual(await whoMay('PATCH', web, holds(null)), mayRelease);
      assert.deepEqual(await whoMay('PATCH', web, holds('')), mayRelease);
      assert.deepEqual(await whoMay('PATCH', web, holds('2000-01-01T00:00:00Z')), mayRelease);
      assert.deepEqual(await whoMay('PATCH', web, { spec: { suspend: true } }), ['developer', 'owner', 'gitops']);
      await as.owner('PATCH', web, holds(null));
    });

    it('let those who may approve a policy promote it', async () => {
      const promotes = { metadata: { annotations: { 'operator.technomad.dev/promote': 'A' } } };
      assert.deepEqual(await whoMay('PATCH', web, promotes), ['owner', 'approver']);
    });
  });
}
