/** What a policy says of a push to a repository that its credentials have not read: why it failed, and neither tag nor digest. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { readPolicyJob } from '../../../src/service/queue/read-job.ts';
import { hintOf } from '../../../src/service/reconcile/fan-out-push.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, policyOf, specOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime } from './world.ts';

const tag = '1.99.7';
const digest = digestOf('e');
const named = `${image}:${tag}`;
const failures: Record<string, { readonly error: () => Error; readonly reason: string }> = {
  'a registry that refuses': {
    error: () => new PermanentError('RegistryDenied', `HEAD manifest of ${named}: r.example.com gives no access`),
    reason: 'RegistryDenied',
  },
  'a registry that is away': {
    error: () => new WaitError('RegistryUnavailable', new Date(startTime + 60_000), `HEAD manifest of ${named}: refused`),
    reason: 'RegistryUnavailable',
  },
  'a registry that does not show the push yet': {
    error: () => new WaitError('NotShownYet', new Date(startTime + 600), `not yet what it announced of ${named}`),
    reason: 'NotShownYet',
  },
  'an answer that is not understood': {
    error: () => new Error(`GET /v2/shop/web/manifests/${tag} (${digest}): no manifest`),
    reason: 'Retrying',
  },
};

for (const [name, { error, reason }] of Object.entries(failures)) {
  for (const hasRead of [false, true]) {
    test(`${name} is reported ${hasRead ? 'with' : 'without'} the pushed tag by a policy that has ${hasRead ? '' : 'not '}read the repository`, async () => {
      const fail = () => Promise.reject(error());
      const world = createWorld({ registry: { hasRead: async () => hasRead, headManifest: fail, listTags: fail } });
      setWorkload(world, { web: `${image}:1.0.0` });
      world.put(policyOf());
      await processPush(pushOf({ tag, digest }), contextOf({ failures: 5 }), world.ports).catch(() => undefined);
      const status = world.statusOf('web');
      assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.reason, reason);
      const said = JSON.stringify([status, world.events]);
      assert.equal(said.includes(tag), hasRead, said);
      if (!hasRead) assert.ok(!said.includes(digest), said);
    });
  }
}

test('a policy that has not read the repository asks the registry even about a push that would change nothing', async () => {
  for (const hasRead of [false, true]) {
    const world = createWorld({ registry: { hasRead: async () => hasRead } });
    setWorkload(world, { web: `${image}:2.0.0` });
    world.put(policyOf({ status: { latest: { tag: '2.0.0', selectedAt: '2026-01-01T00:00:00Z' } } }));
    world.tags.set(tag, digest);
    await processPush(pushOf({ tag, digest }), contextOf(), world.ports);
    assert.equal(world.requests.includes(`HEAD ${tag}`), !hasRead);
  }
});

test('a push to a repository that the policy no longer names is neither requested from the new repository nor shown', async () => {
  const other = { registry: 'registry.author.example', path: 'own/web' };
  for (const isSecondLook of [false, true]) {
    const world = createWorld({ registry: { hasRead: async () => true } });
    setWorkload(world, { web: `${formatRepository(other)}:1.0.0` });
    world.put(policyOf({ spec: specOf({ repository: other }) }));
    world.tags.set(tag, digest);
    const { id, receivedAt } = pushOf({ tag, digest });
    const policy = { namespace: 'shop', name: 'web', uid: policyOf().uid };
    const hint = hintOf(pushOf({ tag, digest }));
    const cause = isSecondLook ? `shown:${id}` : `push:${id}`;
    const job: PolicyJob = { schema: 1, policy, source: 'Webhook', cause, receivedAt, eventId: id, hint };
    await processTask(readPolicyJob(JSON.parse(JSON.stringify(job))), contextOf(), world.ports);
    assert.deepEqual(world.requests, []);
    const said = JSON.stringify([world.statusOf('web'), world.events, [...world.results.values()]]);
    assert.ok(!said.includes(tag) && !said.includes(digest), said);
    if (!isSecondLook) assert.equal(world.results.get(`${id} shop/web`)?.reason, 'NotSelected');
  }
});
