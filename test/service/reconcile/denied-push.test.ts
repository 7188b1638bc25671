/** What becomes of a push while the registry, or its token service, refuses every credential. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { processPush } from '../../../src/service/reconcile/process-push.ts';
import { digestOf, policyOf, specOf, web, webDeployment } from '../../core/model/samples.ts';
import { startFakeRegistry } from '../../harness/fake-registry.ts';
import { contextOf, createWorld, image, pushOf, setWorkload, startTime, neededReconcile } from './world.ts';

const secondsOf = (time: number) => (time - startTime) / 1_000;
const heardAfter = (seconds: number) => new Date(startTime + seconds * 1_000).toISOString();

/** A registry that refuses until it is told not to, its client, and a clock that is moved by hand. */
async function start(t: TestContext) {
  const fake = await startFakeRegistry();
  const state = { now: startTime, isDenied: true, versions: 'a' };
  const client = createRegistryClient({
    registries: [{ host: fake.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [],
    credentialVersions: () => state.versions,
    now: () => state.now,
    random: () => 0,
  });
  t.after(async () => {
    await fake.stop();
    await client.close();
  });
  fake.answerNext(() => (state.isDenied ? { status: 403 } : undefined), { times: 1_000_000 });
  for (const [tag, letter] of [
    ['1.2.3', 'a'],
    ['1.3.0', 'b'],
  ] as const)
    fake.setTag(web.path, tag, digestOf(letter));
  const there = (source: ImageSource): ImageSource => ({ ...source, registry: fake.host });
  const world = createWorld({
    cluster: { now: () => state.now },
    policies: { secretVersions: () => state.versions },
    registry: {
      headManifest: (source, tag, signal) => client.headManifest(there(source), tag, signal),
      listTags: (source, signal) => client.listTags(there(source), signal),
    },
  });
  world.put(policyOf({ status: { observedGeneration: 1 } }));
  /** When it is to be tried again, in seconds after the start; undefined when it is over. */
  const outcomeOf = async (done: Promise<unknown>): Promise<number | undefined> => {
    try {
      await done;
      return undefined;
    } catch (error) {
      assert.ok(error instanceof WaitError && error.reason === 'RegistryDenied', String(error));
      return secondsOf(error.until.getTime());
    }
  };
  const attempt = (push: Partial<PushEvent> = {}, isLastTry = false) =>
    outcomeOf(processPush(pushOf({ receivedAt: heardAfter(0), ...push }), contextOf({ isLastTry }), world.ports));
  const perform = (job: PolicyJob) => outcomeOf(processTask(job, contextOf(), world.ports));
  const at = (seconds: number) => void (state.now = startTime + seconds * 1_000);
  const ready = () => world.statusOf('web').conditions?.find(({ type }) => type === 'Ready')?.reason;
  const resultOf = (id: string) => world.results.get(`${id} shop/web`);
  return { ...world, fake, state, attempt, perform, at, ready, resultOf };
}

test('a denied push is retried and shown as denied as long as its job lives, and its last attempt is final', async (t) => {
  const { attempt, at, fake, ready, resultOf, events } = await start(t);
  for (let now = 0; now < 24 * 3_600;) {
    at(now);
    now = (await attempt()) ?? assert.fail('it is over');
    assert.deepEqual([ready(), resultOf('push-1')?.kind, resultOf('push-1')?.reason], ['RegistryDenied', 'waiting', 'RegistryDenied']);
    assert.match(resultOf('push-1')?.message ?? '', new RegExp(`; the next try is at ${heardAfter(now).replaceAll('.', '\\.')}$`));
  }
  assert.equal(events.length, 1, 'an Event when it begins');
  at(24 * 3_600);
  const before = fake.requests.length;
  assert.equal(before, 57, 'requests in a day');
  assert.equal(await attempt({}, true), undefined);
  assert.equal(fake.requests.length, before + 1, 'the last try asks');
  assert.deepEqual([ready(), resultOf('push-1')?.kind, resultOf('push-1')?.reason], ['RegistryDenied', 'stalled', 'RegistryDenied']);
});

test('a denied push takes effect when the registry grants access again', async (t) => {
  const { attempt, at, state, images, ready, resultOf } = await start(t);
  at((await attempt()) ?? assert.fail());
  state.isDenied = false;
  assert.equal(await attempt(), undefined);
  assert.deepEqual([images(), ready(), resultOf('push-1')?.kind], [[`${image}:1.3.0`], 'UpToDate', 'updated']);
});

test('a change of credentials causes a retry of a denied push at once', async (t) => {
  const { attempt, at, state, images, policies, ports, perform } = await start(t);
  for (let tries = 0; tries < 8; tries++) at((await attempt()) ?? assert.fail());
  const next = (await attempt()) ?? assert.fail();
  state.now += 1_000;
  Object.assign(state, { isDenied: false, versions: 'b' });
  const policy = policies.get('shop/web') ?? assert.fail();
  const job = neededReconcile(policy, ports.cluster, new Date(state.now), ports.policies.secretVersions) ?? assert.fail();
  assert.equal(job.source, 'SecretChange');
  assert.equal(await perform(job), undefined);
  assert.deepEqual(images(), [`${image}:1.3.0`]);
  at(next);
  assert.equal(await attempt(), undefined);
});

test('10,000 denied pushes of a policy cost one request per attempt, the 32 newest wait, and the others end', async (t) => {
  const { attempt, at, fake, state, resultOf, images } = await start(t);
  let left = Array.from({ length: 10_000 }, (_, index) => ({ id: `push-${index}`, receivedAt: heardAfter(index / 100 - 100) }));
  const round = async (seconds: number) => {
    at(seconds);
    const waiting: typeof left = [];
    for (const push of left) if ((await attempt(push)) !== undefined) waiting.push(push);
    left = waiting;
  };
  await round(0);
  assert.equal(fake.requests.length, 1);
  assert.equal(resultOf('push-0')?.kind, 'waiting', 'until its time comes');
  const newest = left.slice(-32).map(({ id }) => id);
  await round(5);
  assert.deepEqual(
    left.map(({ id }) => id),
    newest,
  );
  assert.deepEqual([resultOf('push-0')?.kind, resultOf('push-0')?.reason], ['stalled', 'RegistryDenied']);
  await round(10);
  await round(20);
  assert.deepEqual([left.length, fake.requests.length], [32, 4]);
  state.isDenied = false;
  await round(40);
  assert.deepEqual([left.length, resultOf(newest[0] ?? '')?.kind, images()], [0, 'updated', [`${image}:1.3.0`]]);
});

test('a policy that was flooded with pushes, or was deleted, keeps no denied push waiting', async (t) => {
  const { attempt, at, policies, resultOf } = await start(t);
  for (let index = 0; index < 40; index++) {
    await attempt({ id: `push-${index}`, receivedAt: heardAfter(-40 + index) });
    assert.equal(await attempt({ id: `other-${index}`, tag: 'nightly' }), undefined);
  }
  assert.equal(await attempt({ id: 'push-0', receivedAt: heardAfter(-40) }), undefined);
  policies.delete('shop/web');
  at(5);
  assert.equal(await attempt({ id: 'push-39' }), undefined);
  assert.equal(resultOf('push-39')?.kind, 'waiting', 'no policy is there to say more');
});

test('policies with the same access share the request for a denied push, and each is shown as denied and retried', async (t) => {
  const world = await start(t);
  const { attempt, perform, jobs, fake, state, put, images, statusOf } = world;
  const names = ['web', 'b', 'c', 'd'];
  for (const name of names.slice(1)) {
    setWorkload(world, { web: `${image}:1.2.3` }, { name, uid: `uid-of-${name}` });
    put(policyOf({ name, spec: specOf({ targets: [{ ...webDeployment, name }] }) }));
  }
  assert.equal(await attempt(), undefined);
  assert.equal(jobs.length, 4);
  for (const job of jobs) assert.equal(await perform(job), 5);
  assert.deepEqual(
    fake.requests.map(({ path }) => path),
    ['/v2/shop/web/manifests/1.3.0'],
  );
  for (const name of names) assert.equal(statusOf(name).conditions?.find(({ type }) => type === 'Stalled')?.reason, 'RegistryDenied', name);
  state.isDenied = false;
  state.now += 5_000;
  for (const job of jobs) assert.equal(await perform(job), undefined);
  assert.deepEqual(images(), [`${image}:1.3.0`]);
});

test('a reconcile that recurs by itself or was requested by a user always asks the registry, and is not retried as denied', async (t) => {
  const { perform, ready, fake } = await start(t);
  const { namespace, name, uid } = policyOf();
  const job = { schema: 1, policy: { namespace, name, uid }, cause: 'x', receivedAt: heardAfter(0) } as const;
  for (const [index, source] of (['PolicyChange', 'TargetChange', 'Poll', 'Request'] as const).entries()) {
    assert.equal(await perform({ ...job, source, hint: { tag: '1.3.0' } }), undefined);
    assert.deepEqual([ready(), fake.requests.length], ['RegistryDenied', index + 1]);
  }
});

test('an image that waited for its minimum age is retried while the registry denies access', async (t) => {
  const { perform, put, at, state, images, statusOf } = await start(t);
  const { namespace, name, uid } = policyOf();
  const until = heardAfter(-1);
  const waiting = { tag: '1.3.0', digest: digestOf('b'), until, reason: 'MinAge' } as const;
  put(policyOf({ spec: specOf({ minAgeMs: 60_000 }), status: { observedGeneration: 1, waiting } }));
  const wait = { until, at: until };
  const job: PolicyJob = { schema: 1, policy: { namespace, name, uid }, source: 'WaitOver', cause: 'wait', receivedAt: until, wait };
  at((await perform(job)) ?? assert.fail('it is over'));
  assert.deepEqual(statusOf('web').waiting, waiting);
  state.isDenied = false;
  assert.equal(await perform(job), undefined);
  assert.deepEqual(images(), [`${image}:1.3.0`]);
});
