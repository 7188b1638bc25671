/** One policy, 500 workloads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asSeenBy } from '../../../src/core/plan/consent.ts';
import type { PodState } from '../../../src/core/rollout/evaluate-pods.ts';
import type { Workload, WorkloadRollout } from '../../../src/core/model/workload.ts';
import { reconcileAndReport } from '../../../src/service/reconcile/process-policy.ts';
import { processTask } from '../../../src/service/reconcile/process-task.ts';
import { rolloutJob } from '../../../src/service/reconcile/rollouts/rollout-job.ts';
import { image, rolledOut, rolloutOf, waitingPod, watchedSpec } from '../../core/rollout/rollout-samples.ts';
import { digestOf, policyOf, workloadOf } from '../../core/model/samples.ts';
import { contextOf, createWorld, startTime } from './world.ts';

const size = 500;
const labels = { uses: 'web' };
const name = (index: number) => `web-${index}`;
const broken = name(137);

/** All of them were changed from 1.2.3 to 1.3.0 by one push; time goes on as the test says. */
async function changedWorld(onFailure: 'Rollback' | 'Hold' = 'Rollback') {
  let now = startTime;
  const readRolloutPods = async (workload: { name: string }): Promise<PodState[]> => {
    world.requests.push(`LIST pods of ${workload.name}`);
    const failed = { ...waitingPod('ImagePullBackOff', { message: 'not found' }), startedAt: new Date(startTime - 60_000).toISOString() };
    return workload.name === broken && world.workloads.get(key(broken))?.containers[0]?.image === `${image}:1.3.0` ? [failed] : [];
  };
  const world = createWorld({ cluster: { now: () => now }, workloads: { readPods: readRolloutPods } });
  const targets = [{ kind: 'Deployment', namespace: 'shop', selector: { matchLabels: labels } }];
  world.workloads.clear();
  for (let index = 0; index < size; index++) {
    const other = { name: name(index), uid: `uid-${index}`, labels, rollout: rolloutOf({ ...rolledOut, observedGeneration: 1 }) };
    world.workloads.set(key(other.name), workloadOf({ web: `${image}:1.2.3` }, other));
  }
  const { uid } = policyOf();
  world.put(policyOf({ spec: watchedSpec(onFailure, { targets }), status: { observedGeneration: 1 } }));
  const request = { policy: { namespace: 'shop', name: 'web', uid }, hint: { tag: '1.3.0', digest: digestOf('b') }, announced: true };
  const receivedAt = new Date(startTime).toISOString();
  await reconcileAndReport({ ...contextOf(), request, cause: { source: 'Webhook', receivedAt, eventId: 'push-1' } }, world.ports);
  const status = () => world.statusOf('web');
  return {
    ...world,
    status,
    /** What the controllers say of these. */
    become(rollout: Partial<WorkloadRollout>, matchesTarget: (workload: Workload) => boolean) {
      for (const [at, workload] of world.workloads) {
        const observed = { observedGeneration: workload.generation };
        if (matchesTarget(workload)) world.workloads.set(at, { ...workload, rollout: rolloutOf({ ...rollout, ...observed }) });
      }
    },
    /** Does every look that is ordered, until none is any more or the time is over; returns the requests of the one that made most. */
    async goOn(seconds: number) {
      let most = 0;
      const causes = new Set<string>();
      for (const end = now + seconds * 1_000; now <= end;) {
        const policy = world.policies.get('shop/web');
        const job = policy && rolloutJob(policy, asSeenBy(policy, world.ports.cluster), new Date(now));
        const at = job?.notBefore === undefined ? now : Date.parse(job.notBefore);
        if (job === undefined || at > end) return most;
        now = Math.max(now, at);
        // A cause makes one job; the sweep looks again later.
        if (causes.has(job.cause)) {
          now += 1_000;
          continue;
        }
        causes.add(job.cause);
        const before = world.requests.length;
        await processTask(job, contextOf(), world.ports);
        most = Math.max(most, world.requests.length - before);
      }
      return most;
    },
    running: (tag: string) =>
      [...world.workloads.values()].filter(({ containers }) => containers[0]?.image === `${image}:${tag}`).map((one) => one.name),
    ready: () => status().conditions?.find(({ type }) => type === 'Ready'),
  };
}
const key = (name: string) => `Deployment/shop/${name}`;

test('when all of 500 rollouts are complete the policy is Ready, with a message of ten names and a number for the rest', async () => {
  const world = await changedWorld();
  assert.deepEqual([world.running('1.3.0').length, world.status().rollouts?.progressing], [size, size]);
  assert.equal(world.ready()?.reason, 'Progressing');
  world.become(rolledOut, ({ name }) => name !== broken);
  await world.goOn(1);
  assert.equal(world.ready()?.reason, 'Progressing', 'one is missing');
  world.become(rolledOut, ({ name }) => name === broken);
  world.requests.length = 0;
  await world.goOn(60);
  assert.deepEqual(world.requests, [], 'what is out is not asked for');
  const { settledAt, ...counts } = world.status().rollouts ?? {};
  assert.deepEqual(counts, { progressing: 0, done: size, failed: 0, rolledBack: 0 });
  assert.ok(settledAt);
  assert.equal(world.ready()?.reason, 'UpToDate');
  assert.deepEqual(new Set(world.status().history?.map(({ result }) => result)), new Set(['RolledOut']));
  const told = world.events.filter(({ reason, regarding }) => reason === 'RolledOut' && regarding.kind === 'ImagePolicy');
  assert.match(told.at(-1)?.message ?? '', /1\.3\.0 is out on 490 more workloads/);
  assert.equal(told.length, 11);
  assert.equal(world.results.get('push-1 shop/web')?.reason, 'RolledOut');
  // Pods that fail later are no failed rollout, and nobody is told twice.
  world.become({ updated: 1, available: 0, outdated: 0 }, () => true);
  world.events.length = 0;
  await world.goOn(3_600);
  assert.deepEqual([world.requests, world.events, world.ready()?.reason], [[], [], 'UpToDate']);
});

test('a failed rollout that is not in the history is rolled back with the message of its pod, and other rollouts stay', async () => {
  const world = await changedWorld();
  assert.ok(world.status().history?.every((entry) => entry.name !== broken));
  world.become({ updated: 1 }, () => true);
  const most = await world.goOn(300);
  assert.ok(most <= 30 * 3, `${most} requests in one look`);
  assert.deepEqual(world.running('1.2.3'), [broken]);
  const { rejected = [] } = world.status();
  assert.deepEqual(
    rejected.map(({ digest, reason }) => [digest, reason]),
    [[digestOf('b'), 'ImagePullFailed']],
  );
  assert.match(rejected[0]?.message ?? '', /web-137.*ImagePullBackOff: not found/);
  world.become(rolledOut, () => true);
  await world.goOn(60);
  assert.deepEqual([world.running('1.2.3'), world.running('1.3.0').length], [[broken], size - 1]);
  const { settledAt: _, ...counts } = world.status().rollouts ?? {};
  assert.deepEqual(counts, { progressing: 0, done: size - 1, failed: 0, rolledBack: 1 });
  assert.equal(world.status().rejected?.length, 1, 'that it is out elsewhere does not take that back');
  assert.equal(world.ready()?.reason, 'RejectedDigest');
  assert.ok(JSON.stringify(world.status()).length < 20_000);
  assert.equal(world.results.get('push-1 shop/web')?.reason, 'RolledBack');
});

test('when all of many rollouts fail all are rolled back, some at a time, however little the history holds', async () => {
  const world = await changedWorld();
  const deadlineExceeded = { message: 'timed out progressing', at: new Date(startTime + 1_000).toISOString() };
  world.become({ updated: 1, deadlineExceeded }, () => true);
  const most = await world.goOn(600);
  assert.ok(most <= 30 * 4, `${most} requests in one look`);
  assert.equal(world.running('1.2.3').length, size);
  assert.equal(world.status().rejected?.length, 1);
  assert.deepEqual(world.requests.filter((request) => request.startsWith('PATCH')).length, 2 * size, 'each once there and once back');
});

test('with onFailure: Hold, failed rollouts stay and are counted, even if the history has no room for them', async () => {
  const world = await changedWorld('Hold');
  const deadlineExceeded = { message: 'timed out progressing', at: new Date(startTime + 1_000).toISOString() };
  world.become({ updated: 1, deadlineExceeded }, ({ name }) => name.endsWith('7'));
  world.become(rolledOut, ({ name }) => !name.endsWith('7'));
  await world.goOn(7_200);
  assert.equal(world.running('1.3.0').length, size);
  assert.deepEqual(world.status().rollouts?.failed, 50);
  assert.deepEqual([world.ready()?.reason, world.status().history?.length], ['RolloutFailed', 10]);
});

test('after a crash before the status, every change is found on its workload with its former image', async () => {
  const world = await changedWorld();
  const { history: _, lastAppliedTag: __, ...lost } = world.status();
  world.put(policyOf({ ...world.policies.get('shop/web'), status: lost }));
  world.become({ updated: 1 }, () => true);
  await world.goOn(300);
  assert.deepEqual(world.running('1.2.3'), [broken]);
});

test('a manual change of one of many workloads is held, even if the history has no room for the workload', async () => {
  const world = await changedWorld();
  const found = world.workloads.get(key(broken));
  assert.ok(found);
  const containers = found.containers.map((one) => ({ ...one, image: `${image}:1.2.9`, imageOwner: 'kubectl' }));
  world.workloads.set(key(broken), { ...found, containers, generation: 3 });
  const { uid } = policyOf();
  const request = { policy: { namespace: 'shop', name: 'web', uid }, hint: { tag: '1.3.0', digest: digestOf('b') }, announced: true };
  world.requests.length = 0;
  await reconcileAndReport(
    { ...contextOf(), request, cause: { source: 'Webhook', receivedAt: new Date(startTime).toISOString() } },
    world.ports,
  );
  assert.deepEqual(world.running('1.2.9'), [broken]);
  assert.match(world.status().conditions?.find(({ type }) => type === 'Held')?.message ?? '', /web-137 is held: kubectl changed web/);
});
