import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { processPoll } from '../../../src/service/poll/process-poll.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import type { RequestRecord } from '../../../src/service/registry/http.ts';
import { latestSpec, policyOf, specOf, webDeployment } from '../../core/model/samples.ts';
import { fakeImage, startFakeRegistry, type FakeRegistry } from '../../harness/fake-registry.ts';
import { pushImage } from '../../harness/push-image.ts';
import { startRegistry, type Registry } from '../../harness/registry.ts';
import { contextOf, createWorld, setWorkload, startTime } from '../reconcile/world.ts';

const hour = 3_600_000;
const path = 'shop/web';
let real: Registry;
let fake: FakeRegistry;
before(async () => void ([real, fake] = await Promise.all([startRegistry(), startFakeRegistry()])));
after(() => Promise.all([real.stop(), fake.stop()]));

/** Polls a repository for 30 policies of versions, and 10 that follow a tag each of two. Answers the requests, and how many policies had something to do. */
async function poll(host: string, { versions = 30, moving = 10, running = '1.0.0' } = {}) {
  const requests: RequestRecord[] = [];
  const registry: RegistryClient = createRegistryClient({
    registries: [{ host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [],
    onRequest: (record) => void requests.push(record),
  });
  const world = createWorld({
    registry: {
      listTags: (source, signal) => registry.listTags(source, signal),
      headManifest: (source, tag, signal) => registry.headManifest(source, tag, signal),
      resolveTag: (source, tag, signal) => registry.resolveTag(source, tag, signal),
      whyUnusable: (source, digest, signal) => registry.whyUnusable(source, digest, signal),
    },
  });
  world.policies.clear();
  const repository = { registry: host, path };
  const put = (name: string, spec: ReturnType<typeof specOf>, running: string) => {
    world.put(policyOf({ name, spec }));
    setWorkload(world, { web: `${host}/${path}:${running}` }, { name });
  };
  const targetsOf = (name: string) => ({ repository, targets: [{ ...webDeployment, name }] });
  for (let index = 0; index < versions; index++) put(`v-${index}`, specOf(targetsOf(`v-${index}`)), running);
  for (let index = 0; index < moving; index++) put(`m-${index}`, latestSpec(targetsOf(`m-${index}`)), 'latest');
  try {
    const job = { schema: 1, repository, intervalMs: hour, receivedAt: new Date(startTime).toISOString() } as const;
    await processPoll(job, contextOf(), world.ports);
  } finally {
    await registry.close();
  }
  return { requests: requests.map(({ kind, status }) => `${kind} ${status}`), found: world.jobs.length };
}

test('polling a real registry takes one list for all policies, and one request for each tag that is followed or found', async () => {
  for (const tag of ['1.0.0', '1.1.0', 'latest']) await pushImage({ host: real.host, repository: path, tag, content: tag });
  assert.deepEqual(await poll(real.host, { moving: 0 }), { requests: ['tags 200', 'manifest 200'], found: 30 });
  assert.deepEqual(await poll(real.host, { moving: 0, running: '1.1.0' }), { requests: ['tags 200'], found: 0 });
  assert.deepEqual(await poll(real.host, { moving: 0, versions: 1 }), { requests: ['tags 200', 'manifest 200'], found: 1 });
  // What a tag points to is asked by HEAD, and only where that is new what it is.
  assert.deepEqual(await poll(real.host), { requests: ['manifest 200', 'manifest 200', 'tags 200', 'manifest 200'], found: 40 });
  assert.deepEqual(await poll(real.host, { versions: 0 }), { requests: ['manifest 200', 'manifest 200'], found: 10 });
});

test('each page of a long list of tags is requested once', async () => {
  fake.setPageSize(10);
  for (let minor = 0; minor < 45; minor++) fake.setTag(path, `1.${minor}.0`, fakeImage('1'));
  assert.deepEqual(await poll(fake.host, { moving: 0, running: '1.44.0' }), {
    requests: Array.from({ length: 5 }, () => 'tags 200'),
    found: 0,
  });
});
