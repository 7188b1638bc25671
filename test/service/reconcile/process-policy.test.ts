import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { PolicyJob } from '../../../src/service/queue/jobs.ts';
import { readPolicyJob } from '../../../src/service/queue/read-job.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { digestOf, latestSpec, policyOf, specOf } from '../../core/model/samples.ts';
import { rememberAnswer } from './remember-answer.ts';
import { contextOf, createWorld, image, setWorkload, startTime, withPorts } from './world.ts';

const { namespace, name, uid } = policyOf();
const job: PolicyJob = {
  schema: 1,
  policy: { namespace, name, uid },
  source: 'Webhook',
  cause: 'push:push-1',
  receivedAt: new Date(startTime - 1_000).toISOString(),
  eventId: 'push-1',
  hint: { tag: '1.3.0' },
};
const key = 'push-1 shop/web';

describe('an answer of the registry that was stored for all jobs of a push', () => {
  const start = async (at = startTime, cause = job.cause, tag = '1.3.0') => {
    const world = createWorld();
    await rememberAnswer(world, cause, { tag, digest: digestOf('b') }, at);
    return world;
  };

  test('is used in the first attempt only', async () => {
    const first = await start();
    await processTask(job, contextOf({ failures: 0 }), first.ports);
    assert.deepEqual([first.requests, first.images()], [['PATCH web'], [`${image}:1.3.0`]]);
    const second = await start();
    await processTask(job, contextOf({ failures: 1 }), second.ports);
    assert.deepEqual(second.requests, ['GET policy web', 'HEAD 1.3.0', 'PATCH web']);
  });

  for (const [what, starting] of [
    ['once the lock of a killed worker may have ended', () => start(startTime - 3_000)],
    ['when the clock was set back', () => start(startTime + 3_000)],
    ['of another push', () => start(startTime, 'push:push-0')],
    ['about another tag', () => start(startTime, job.cause, '1.2.9')],
  ] as const) {
    test(`is not used ${what}`, async () => {
      const world = await starting();
      await processTask(job, contextOf(), world.ports);
      assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
    });
  }

  test('is not used for a policy with other credentials', async () => {
    const world = await start();
    const access = { secrets: [{ namespace: 'shop', name: 'mine', namedBy: 'policy' as const }] };
    await processTask(job, contextOf(), withPorts(world.ports, { registry: { sourceOf: (_, spec) => ({ ...spec.repository, access }) } }));
    assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web']);
  });
});

test('an answer from before another process applied a newer push does not set the image back', async () => {
  const world = createWorld();
  world.put(policyOf({ spec: latestSpec() }));
  const digests = { older: digestOf('d'), newer: digestOf('e') };
  await rememberAnswer(world, job.cause, { tag: 'latest', digest: digests.older });
  setWorkload(world, { web: `${image}:latest@${digests.newer}` });
  world.tags.set('latest', digests.newer);
  // The registry shows another digest than was announced, so the job waits until it has had its time.
  await assert.rejects(processTask({ ...job, hint: { tag: 'latest', digest: digests.older } }, contextOf(), world.ports), WaitError);
  assert.deepEqual([world.requests, world.images()], [['HEAD latest'], [`${image}:latest@${digests.newer}`]]);
});

describe('somebody who writes jobs to Redis', () => {
  test('cannot choose a digest, because it is not read from a job', async () => {
    const world = createWorld();
    world.put(policyOf({ spec: specOf({ pin: 'Digest' }) }));
    const evil = { tag: '1.3.0', digest: digestOf('e') };
    const written = { ...job, hint: { tag: '1.3.0' }, resolved: evil, resolvedAt: '2099-01-01T00:00:00.000Z' };
    await processTask(readPolicyJob(written), contextOf(), world.ports);
    assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0@${digestOf('b')}`]]);
  });

  test('cannot answer a request that nobody has made, so that a later one is still processed', async () => {
    const world = createWorld();
    const { hint: _, eventId: __, ...bare } = job;
    const actions = { rollbackTo: 'previous', requestedAt: 'now' };
    for (const source of ['Rollback', 'Request'] as const) await processTask({ ...bare, source, actions }, contextOf(), world.ports);
    const { lastHandledRequest, lastHandledRollback } = world.statusOf('web');
    assert.deepEqual([lastHandledRequest, lastHandledRollback], [undefined, undefined]);
  });

  test('cannot cause requests to a registry for years with a time in the future', async () => {
    const world = createWorld();
    const announced = { ...job, receivedAt: '2099-01-01T00:00:00.000Z', hint: { tag: '1.3.0', digest: digestOf('e') } };
    const isShort = (error: unknown) => error instanceof WaitError && error.until.getTime() <= startTime + 10_000;
    await assert.rejects(processTask(announced, contextOf(), world.ports), isShort);
    world.requests.length = 0;
    const later = withPorts(world.ports, { cluster: { now: () => startTime + 10_000 } });
    await processTask(announced, contextOf(), later);
    assert.deepEqual([world.requests, world.images()], [['HEAD 1.3.0', 'PATCH web'], [`${image}:1.3.0`]]);
  });
});

test('a job without a hint considers all tags', async () => {
  const world = createWorld();
  const { hint: _, eventId: __, ...bare } = job;
  await processTask({ ...bare, source: 'PolicyChange', cause: 'generation:1' }, contextOf(), world.ports);
  assert.deepEqual(world.images(), [`${image}:1.3.0`]);
  assert.deepEqual([world.results.size, world.statusOf('web').observedGeneration], [0, 1]);
});

for (const [what, ageMs, expected] of [
  ['is applied to a policy that was created anew under its name since', 0, undefined],
  ['is not applied to another policy that a cache still has from before', 60_000, 'PolicyGone'],
] as const)
  test(`a push for a policy that was deleted since ${what}`, async () => {
    const world = createWorld();
    world.put(policyOf({ uid: 'anew', createdAt: new Date(startTime - ageMs).toISOString() }));
    await processTask(job, contextOf(), world.ports);
    assert.deepEqual(world.images(), [`${image}:${expected === undefined ? '1.3.0' : '1.2.3'}`]);
    if (expected !== undefined) assert.equal(world.results.get(key)?.reason, expected);
  });

test('a push for a policy that was deleted since still gets a result', async () => {
  const world = createWorld();
  world.policies.clear();
  await processTask(job, contextOf(), world.ports);
  const result = world.results.get(key);
  assert.deepEqual([result?.kind, result?.reason, result?.afterMs], ['ignored', 'PolicyGone', 1_000]);
  assert.deepEqual(world.events, []);
});

test('a failure of a job is recorded and thrown, and written to the status when it lasts', async () => {
  const broken = new Error('asking the registry', { cause: new Error('502') });
  const world = createWorld({ registry: { headManifest: () => Promise.reject(broken) } });
  const before = { conditions: [] };
  world.put(policyOf({ status: before }));
  await assert.rejects(processTask(job, contextOf({ failures: 1 }), world.ports), broken);
  assert.deepEqual([world.results.get(key)?.kind, world.results.get(key)?.message], ['retrying', 'asking the registry: 502']);
  assert.deepEqual(world.statusOf('web'), before);
  await assert.rejects(processTask(job, contextOf({ failures: 2 }), world.ports), broken);
  assert.deepEqual(
    world.statusOf('web').conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [
      ['Ready', 'False', 'Retrying'],
      ['Reconciling', 'True', 'Retrying'],
    ],
  );
});

test('the failure of the last attempt of a job is recorded as final', async () => {
  const world = createWorld({ registry: { headManifest: () => Promise.reject(new Error('502')) } });
  await assert.rejects(processTask(job, contextOf({ failures: 99, isLastTry: true }), world.ports));
  assert.equal(world.results.get(key)?.kind, 'failed');
});

test('a wait of a job for longer than some seconds is written to the status at once', async () => {
  const later = new WaitError('RegistryThrottled', new Date(startTime + 60_000), 'asked to wait');
  const world = createWorld({ registry: { headManifest: () => Promise.reject(later) } });
  await assert.rejects(processTask(job, contextOf(), world.ports), later);
  assert.equal(world.results.get(key)?.kind, 'waiting');
  const { conditions, waiting } = world.statusOf('web');
  assert.equal(conditions?.find(({ type }) => type === 'Reconciling')?.reason, 'RegistryThrottled');
  assert.deepEqual(waiting, { tag: '1.3.0', until: '2026-03-01T12:01:00Z', reason: 'RegistryThrottled' });
  const over = withPorts(world.ports, { registry: { headManifest: createWorld().ports.registry.headManifest } });
  await processTask(job, contextOf({ failures: 1 }), over);
  assert.equal(world.statusOf('web').waiting, undefined);
});

test('a short wait for a registry is recorded, but not written to the status', async () => {
  const soon = new WaitError('RegistryBusy', new Date(startTime + 4_999), 'too many wait');
  const world = createWorld({ registry: { headManifest: () => Promise.reject(soon) } });
  await assert.rejects(processTask(job, contextOf(), world.ports), soon);
  assert.equal(world.results.get(key)?.kind, 'waiting');
  assert.deepEqual(world.statusOf('web'), createWorld().statusOf('web'));
});

test('a policy without a status shows at once that its registry fails', async () => {
  const soon = new WaitError('RegistryUnavailable', new Date(startTime + 1_000), 'the registry pauses');
  const world = createWorld({ registry: { headManifest: () => Promise.reject(soon) } });
  await assert.rejects(processTask(job, contextOf(), world.ports), soon);
  const { running, conditions } = world.statusOf('web');
  assert.deepEqual([running, conditions?.[0]?.reason], ['1.2.3', 'RegistryUnavailable']);
});

test('a short wait for a registry that recurs is written to the status, and has an Event', async () => {
  const soon = new WaitError('RegistryUnavailable', new Date(startTime + 4_999), 'the registry pauses');
  const world = createWorld({ registry: { headManifest: () => Promise.reject(soon) } });
  await assert.rejects(processTask(job, contextOf({ failures: 2 }), world.ports), soon);
  assert.equal(world.statusOf('web').conditions?.[0]?.reason, 'RegistryUnavailable');
  assert.ok(world.events.some((event) => JSON.stringify(event).includes('RegistryUnavailable')));
});

test('a failure of a job that cannot be reported is still thrown', async () => {
  const broken = new Error('502');
  const { eventLog } = createWorld().ports.report;
  const away = () => Promise.reject(new Error('Redis is away'));
  const world = createWorld({
    registry: { headManifest: () => Promise.reject(broken) },
    report: { eventLog: { ...eventLog, recordResult: away } },
    policies: { writeStatus: away },
  });
  await assert.rejects(processTask(job, contextOf({ failures: 5 }), world.ports), broken);
});

test('a retry is compared with the status that the failed attempt has written, even if our watch does not show it', async () => {
  const world = createWorld();
  const stale = world.policies.get('shop/web') ?? assert.fail();
  const failed = {
    ...stale,
    resourceVersion: `${Number(stale.resourceVersion) + 1}`,
    status: { ...stale.status, running: 'says Retrying' },
  };
  let compared: ImagePolicy | undefined;
  const ports = withPorts(world.ports, {
    policies: {
      find: () => stale,
      read: () => Promise.resolve(failed),
      writeStatus: async (policy) => void (compared = policy),
    },
  });
  await processTask(job, contextOf({ failures: 1 }), ports);
  assert.equal(compared?.status.running, 'says Retrying');
});

test('a job whose result was not recorded is repeated, and changes nothing twice', async () => {
  const { eventLog } = createWorld().ports.report;
  let away = true;
  const world = createWorld({
    report: { eventLog: { ...eventLog, recordResult: () => (away ? Promise.reject(new Error('Redis is away')) : Promise.resolve()) } },
  });
  await assert.rejects(processTask(job, contextOf(), world.ports), /Redis is away/);
  away = false;
  await processTask(job, contextOf({ failures: 1 }), world.ports);
  assert.deepEqual(world.requests, ['HEAD 1.3.0', 'PATCH web', 'GET policy web']);
  assert.deepEqual(
    world.statusOf('web').history?.map(({ tag }) => tag),
    ['1.3.0'],
  );
});

test('after a crash between the patch and the status, the next reconcile writes the history', async () => {
  const world = createWorld();
  const crashed = withPorts(world.ports, { policies: { writeStatus: () => Promise.reject(new Error('killed')) } });
  await assert.rejects(processTask({ ...job, receiver: 'prod' }, contextOf(), crashed), /killed/);
  assert.deepEqual([world.images(), world.statusOf('web')], [[`${image}:1.3.0`], {}]);
  await processTask({ ...job, receiver: 'prod' }, contextOf({ failures: 1 }), world.ports);
  const { history, trigger, latest } = world.statusOf('web');
  assert.deepEqual(
    history?.map(({ to, from, trigger: source }) => [to, from, source]),
    [[`${image}:1.3.0`, `${image}:1.2.3`, 'Webhook']],
  );
  assert.deepEqual([trigger?.event, trigger?.receiver, latest?.tag], ['push-1', 'prod', '1.3.0']);
});

test('the status before a rollback is written without waiting for other image changes, and the report after it waits', async () => {
  const world = createWorld();
  await processTask(job, contextOf(), world.ports);
  const policy = world.policies.get('shop/web');
  assert.ok(policy);
  const actions = { rollbackTo: 'previous' };
  world.put({ ...policy, actions });
  const [othersAreOut, isPatched] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { patchImages } = world.ports.workloads;
  const { hint: _hint, eventId: _eventId, ...rollback } = { ...job, source: 'Rollback' as const, actions };
  const done = processTask(
    rollback,
    contextOf(),
    withPorts(world.ports, {
      report: { untilPatched: () => othersAreOut.promise },
      workloads: {
        patchImages: async (...args) => {
          const result = await patchImages(...args);
          isPatched.resolve();
          return result;
        },
      },
    }),
  );
  await isPatched.promise;
  const { rejected, lastHandledRollback } = world.statusOf('web');
  assert.deepEqual([world.images(), rejected?.[0]?.tag, lastHandledRollback], [[`${image}:1.2.3`], '1.3.0', undefined]);
  othersAreOut.resolve();
  await done;
  assert.equal(world.statusOf('web').lastHandledRollback, 'previous');
});
