/** What a failed try leaves in the record of its push. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportFailure } from '../../../src/service/reconcile/report-failure.ts';
import { policyOf, webDeployment } from '../../core/model/samples.ts';
import { createWorld, image } from './world.ts';

const { signal } = new AbortController();
const cause = { source: 'Webhook', receivedAt: '2026-01-01T00:00:00Z', eventId: 'push-1' } as const;

test('the failure of a try whose job another worker has taken is not recorded with the push, unless it has changed something', async () => {
  const recorded = async (isOurs: () => Promise<boolean>, hasChanged = false) => {
    const world = createWorld();
    const policy = policyOf();
    world.put(policy);
    const change = { workload: webDeployment, container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` };
    const failure = {
      policy,
      cause,
      key: 'shop/web',
      failures: 0,
      isLastTry: false,
      isOurs,
      signal,
      ...(hasChanged && { applied: [change] }),
    };
    await reportFailure(failure, new Error('connect ECONNREFUSED'), world.ports);
    return world.results.get('push-1 shop/web')?.kind;
  };
  assert.equal(await recorded(async () => true), 'retrying');
  assert.equal(await recorded(async () => false), undefined);
  assert.equal(await recorded(async () => false, true), 'retrying');
  assert.equal(await recorded(async () => Promise.reject(new Error('Redis is gone'))), 'retrying');
});
