import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileCause } from '../../../src/core/status/next-status.ts';
import type { Outcome } from '../../../src/core/plan/outcome.ts';
import { reportFailure } from '../../../src/service/reconcile/report-failure.ts';
import { reportOutcome } from '../../../src/service/reconcile/report.ts';
import { WaitError } from '../../../src/core/model/errors.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import { policyOf, stalledStatus, webDeployment } from '../../core/model/samples.ts';
import { createWorld, image, startTime, type World } from './world.ts';

const cause: ReconcileCause = { source: 'Webhook', receivedAt: new Date(startTime - 1_500).toISOString(), eventId: 'push-1' };
const updated: Outcome = {
  kind: 'updated',
  reason: 'Updated',
  message: 'changed',
  tag: '1.3.0',
  running: 'runs 1.3.0',
  changes: [{ workload: webDeployment, container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` }],
};
const stalled: Outcome = { kind: 'stalled', reason: 'TargetNotFound', message: 'see the reason' };

const { signal } = new AbortController();

async function report(world: World, outcome: Outcome, policy = policyOf()): Promise<void> {
  world.put(policy);
  await reportOutcome({ policy, cause, signal }, outcome, world.ports);
}

const eventsOf = ({ events }: World) => events.map(({ regarding: { kind, name }, type, reason }) => [kind, name, type, reason]);

test('a change is an Event on the workload, and one on the policy if the reason of its condition changes', async () => {
  const world = createWorld();
  await report(world, updated);
  assert.deepEqual(eventsOf(world), [
    ['Deployment', 'web', 'Normal', 'Updated'],
    ['ImagePolicy', 'web', 'Normal', 'Updated'],
  ]);
  assert.equal(world.events[0]?.message, `web from ${image}:1.2.3 to ${image}:1.3.0, selected by ImagePolicy shop/web`);
  const { kind, afterMs, changes } = world.results.get('push-1 shop/web') ?? {};
  assert.deepEqual([kind, afterMs, changes], ['updated', 1_500, updated.changes]);
});

test('a change that leaves the reason of the condition unchanged is an Event on the workload only', async () => {
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'UpToDate', message: 'up to date', lastTransitionTime: '2026-03-01T11:00:00Z' },
  ] as const;
  const world = createWorld();
  await report(world, updated, policyOf({ status: { conditions } }));
  assert.deepEqual(eventsOf(world), [['Deployment', 'web', 'Normal', 'Updated']]);
});

test('a wait is reported by one Event when it begins, and not each time', async () => {
  const next = { tag: '1.3.0', until: '2026-03-01T12:30:00Z', reason: 'MinAge' } as const;
  const waiting: Outcome = { kind: 'waiting', reason: 'MinAge', message: '1.3.0 waits', pending: { next } };
  const begins = createWorld();
  await report(begins, waiting);
  assert.deepEqual(eventsOf(begins), [['ImagePolicy', 'web', 'Normal', 'MinAge']]);
  const lasts = createWorld();
  await report(lasts, waiting, policyOf({ status: { waiting: next } }));
  assert.deepEqual([eventsOf(lasts), lasts.results.get('push-1 shop/web')?.kind], [[], 'waiting']);
});

test('the same finding of two simultaneous reconciles is reported by one Event', async () => {
  const next = { tag: '1.3.0', until: '2026-03-01T12:30:00Z', reason: 'MinAge' } as const;
  const waiting: Outcome = { kind: 'waiting', reason: 'MinAge', message: '1.3.0 waits', pending: { next } };
  for (const outcome of [stalled, waiting]) {
    const world = createWorld();
    const seenByBoth = policyOf();
    world.put(seenByBoth);
    for (let look = 0; look < 2; look++) await reportOutcome({ policy: seenByBoth, cause, signal }, outcome, world.ports);
    assert.equal(world.events.length, 1, outcome.kind);
  }
});

test('a stalled policy gets an Event when it stalls and when its reason changes, not each time', async () => {
  const begins = createWorld();
  await report(begins, stalled);
  assert.deepEqual(eventsOf(begins), [['ImagePolicy', 'web', 'Warning', 'TargetNotFound']]);
  const lasts = createWorld();
  await report(lasts, stalled, policyOf({ status: stalledStatus('TargetNotFound') }));
  assert.deepEqual(eventsOf(lasts), []);
  const changes = createWorld();
  await report(changes, stalled, policyOf({ status: stalledStatus('ContainerNotFound') }));
  assert.deepEqual(eventsOf(changes), [['ImagePolicy', 'web', 'Warning', 'TargetNotFound']]);
});

test('a reconcile without anything to do creates no Event', async () => {
  const world = createWorld();
  await report(world, { kind: 'unchanged', reason: 'UpToDate', message: 'already runs 1.3.0' });
  await report(world, { kind: 'ignored', reason: 'NotSelected', message: 'another branch' });
  assert.deepEqual(world.events, []);
});

for (const [name, error, expected] of [
  ['of the first attempt', new Error('connect ECONNREFUSED'), ['Retrying']],
  ['with a long wait', new WaitError('RegistryThrottled', new Date(startTime + 60_000), 'asked for a pause'), ['RegistryThrottled']],
  ['with a wait for a signature', new WaitError('NotSigned', new Date(startTime + 60_000), 'not signed yet'), []],
  ['with a wait that is soon over', new WaitError('NotShownYet', new Date(startTime + 100), 'not there yet'), []],
] as const) {
  test(`a failure ${name} causes ${expected.length === 0 ? 'no Event' : 'an Event, at most hourly'}`, async () => {
    const world = createWorld();
    const policy = policyOf();
    world.put(policy);
    const failure = { policy, cause, key: 'shop/web', failures: 0, isLastTry: false, isOurs: async () => true, signal };
    await reportFailure(failure, error, world.ports);
    await reportFailure({ ...failure, signal: AbortSignal.abort(new Error('the process is stopping')) }, error, world.ports);
    await reportFailure({ ...failure, policy: undefined }, error, world.ports);
    assert.deepEqual(
      world.events.map(({ reason, type, message, atMostHourly }) => [reason, type, message, atMostHourly]),
      expected.map((reason) => [reason, 'Warning', error.message, true]),
    );
  });
}

test('a policy without a status shows its first failure at once, and other policies only failures that last', async () => {
  const conditionsAfter = async (policy: ImagePolicy, failures: number) => {
    const world = createWorld();
    world.put(policy);
    const failure = { policy, cause, key: 'shop/web', failures, isLastTry: false, isOurs: async () => true, signal };
    await reportFailure(failure, new Error('connect ECONNREFUSED'), world.ports);
    return world.statusOf('web').conditions?.map(({ type, reason }) => `${type} ${reason}`);
  };
  assert.deepEqual(await conditionsAfter(policyOf(), 0), ['Ready Retrying', 'Reconciling Retrying']);
  const known = policyOf({ status: stalledStatus('TargetNotFound') });
  assert.deepEqual(
    await conditionsAfter(known, 1),
    known.status.conditions?.map(({ type, reason }) => `${type} ${reason}`),
  );
  assert.ok((await conditionsAfter(known, 2))?.includes('Ready Retrying'));
});

test('a failure about an older image than the selected one is not written to the status, where nothing would clear it', async () => {
  const selected = policyOf({
    status: { ...stalledStatus('TargetNotFound'), latest: { tag: '1.4.0', selectedAt: '2026-01-01T00:00:00Z' } },
  });
  const isWritten = async (tag: string, isHinted = true) => {
    const world = createWorld();
    world.put(selected);
    const failure = {
      policy: selected,
      cause: { ...cause, isHinted },
      key: 'shop/web',
      failures: 5,
      isLastTry: false,
      isOurs: async () => true,
      image: { tag },
      signal,
    };
    await reportFailure(failure, new Error('connect ECONNREFUSED'), world.ports);
    return world.statusOf('web').conditions?.some(({ reason }) => reason === 'Retrying') === true;
  };
  assert.deepEqual([await isWritten('1.3.0'), await isWritten('1.4.0'), await isWritten('1.5.0')], [false, true, true]);
  assert.equal(await isWritten('1.3.0', false), true, 'whoever has looked at all tags has found that this one is the newest');
});

test('a failed attempt of a rollback is written to the status only while the rollback is still requested', async () => {
  const rollback = 'previous 1';
  const isWritten = async (more: Pick<ImagePolicy, 'actions'> | Pick<ImagePolicy, 'status'>) => {
    const world = createWorld();
    const asked = policyOf({ actions: { rollbackTo: rollback }, status: stalledStatus('TargetNotFound') });
    world.put({ ...asked, ...more });
    const failure = {
      policy: asked,
      cause: { ...cause, rollback },
      key: 'shop/web',
      failures: 5,
      isLastTry: false,
      isOurs: async () => true,
      signal,
    };
    await reportFailure(failure, new Error('connect ECONNREFUSED'), world.ports);
    return world.statusOf('web').conditions?.some(({ reason }) => reason === 'Retrying') === true;
  };
  assert.equal(await isWritten({ actions: { rollbackTo: rollback } }), true);
  assert.equal(await isWritten({ actions: {} }), false);
  assert.equal(await isWritten({ status: { ...stalledStatus('TargetNotFound'), lastHandledRollback: rollback } }), false);
});

test('a failure of a job that another worker has taken over is followed by a new job, because nothing repeats the attempt', async () => {
  const world = createWorld();
  const policy = policyOf();
  world.put(policy);
  const failure = { policy, cause, key: 'shop/web', failures: 5, isLastTry: false, signal };
  const jobsAfter = async (isOurs: () => Promise<boolean>) => {
    world.jobs.length = 0;
    await reportFailure({ ...failure, isOurs }, new Error('connect ECONNREFUSED'), world.ports);
    return world.jobs.map(({ source, policy: { name } }) => [source, name]);
  };
  assert.deepEqual(await jobsAfter(async () => true), []);
  assert.deepEqual(await jobsAfter(async () => false), [['TargetChange', 'web']]);
  assert.deepEqual(await jobsAfter(async () => Promise.reject(new Error('Redis is gone'))), []);
});

test('after an image is applied although a newer one is selected, a job follows for the newer one', async () => {
  const jobsAfter = async (latest: string, isHinted = true) => {
    const world = createWorld();
    const policy = policyOf({ status: { latest: { tag: latest, selectedAt: '2026-01-01T00:00:00Z' } } });
    world.put(policy);
    await reportOutcome({ policy, cause: { ...cause, isHinted }, signal }, updated, world.ports);
    return world.jobs.map(({ source }) => source);
  };
  assert.deepEqual(await jobsAfter('1.4.0'), ['TargetChange']);
  assert.deepEqual(await jobsAfter('1.2.3'), []);
  assert.deepEqual(await jobsAfter('1.4.0', false), []);
});
