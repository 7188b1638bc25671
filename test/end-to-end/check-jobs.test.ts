/** Checks that run Jobs, with the controllers of Kubernetes and the permissions of the chart. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';

interface Job {
  readonly metadata: { readonly name: string; readonly uid: string; readonly annotations: Readonly<Record<string, string>> };
}
interface Pod {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly { readonly name: string; readonly image: string }[] };
}

describe('a check by a Job', () => {
  let rollouts: RolloutWorld;
  before(async () => {
    rollouts = await startRolloutWorld({ config: { checks: { jobs: true } } }, { extraRules: shippedRules('work-checks') });
    await createCronJob('migrate', { 'operator.technomad.dev/check': 'allow' });
    await createCronJob('nightly', {});
  });
  after(() => rollouts?.stop());

  const path = (resource: string) => `/apis/batch/v1/namespaces/${rollouts.world.namespace}/${resource}`;
  const createCronJob = (name: string, annotations: object) =>
    rollouts.world.cluster.request('POST', path('cronjobs'), {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name, annotations },
      spec: {
        suspend: true,
        schedule: '0 0 1 1 *',
        jobTemplate: {
          spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'migrate:1' }] } } },
        },
      },
    });
  const jobsOf = async (name: string) => {
    const { items } = await rollouts.world.cluster.request<{ items: Job[] }>('GET', path('jobs'));
    return items.filter(({ metadata }) => metadata.annotations['operator.technomad.dev/check-policy'] === name);
  };
  /** What the kubelet would say of the pod of a Job. */
  const ends = async (job: Job, phase: 'Succeeded' | 'Failed') => {
    const { cluster, namespace } = rollouts.world;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const pod = await waitFor('the pod of the Job', async () => {
      const { items } = await cluster.request<{ items: Pod[] }>(
        'GET',
        `${pods}?labelSelector=batch.kubernetes.io/controller-uid%3D${job.metadata.uid}`,
      );
      return items[0];
    });
    const exitCode = phase === 'Failed' ? 1 : 0;
    const now = new Date().toISOString();
    const state = { terminated: { exitCode, reason: phase === 'Failed' ? 'Error' : 'Completed', startedAt: now, finishedAt: now } };
    const containerStatuses = [{ name: 'job', image: 'migrate:1', imageID: '', ready: false, restartCount: 0, state }];
    await cluster.request('PATCH', `${pods}/${pod.metadata.name}/status`, { status: { phase, startTime: now, containerStatuses } });
    return pod;
  };
  const create = (name: string, cronJob: string, timeout = '10m') =>
    rollouts.create(name, {
      onFailure: 'Rollback',
      checks: [{ name: 'migrate', phase: 'before', every: '1s', timeout, job: { cronJob } }],
    });
  const push = async (name: string, tag: string) => {
    const digest = await rollouts.push(name, tag);
    await rollouts.announce(name, tag);
    return digest;
  };
  const theJob = (name: string) => waitFor(`the Job of ${name}`, async () => (await jobsOf(name))[0]);

  it('runs the Job once, also when the service is killed, and the image is applied when the Job is complete', async () => {
    await create('good', 'migrate');
    const digest = await push('good', '1.0.1');
    const job = await theJob('good');
    await rollouts.service.kill9();
    await rollouts.service.restart();
    assert.equal((await rollouts.world.readDeployment('good')).metadata.generation, 1);
    const pod = await ends(job, 'Succeeded');
    assert.equal(pod.metadata.annotations?.['operator.technomad.dev/check-digest'], digest);
    await rollouts.world.waitForImage('good', rollouts.image('good', '1.0.1'));
    assert.deepEqual(
      (await jobsOf('good')).map(({ metadata }) => metadata.uid),
      [job.metadata.uid],
    );
  });

  it('that fails holds the image, and a release runs another Job', async () => {
    await create('bad', 'migrate');
    await push('bad', '1.0.1');
    const job = await theJob('bad');
    await ends(job, 'Failed');
    const held = await rollouts.world.waitForCondition('bad', 'Held', 'CheckFailed');
    assert.match(held.message, /the check migrate failed: the Job migrate-[0-9a-f]+ failed/);
    await rollouts.world.annotate(rollouts.world.policyPath('bad'), { 'operator.technomad.dev/release': new Date().toISOString() });
    const second = await waitFor('another Job', async () =>
      (await jobsOf('bad')).find(({ metadata }) => metadata.uid !== job.metadata.uid),
    );
    await ends(second, 'Succeeded');
    await rollouts.world.waitForImage('bad', rollouts.image('bad', '1.0.1'));
    assert.equal((await jobsOf('bad')).length, 2);
  });

  it('does not run a Job again that was deleted before its verdict', async () => {
    await create('gone', 'migrate', '5s');
    await push('gone', '1.0.1');
    const job = await theJob('gone');
    await waitFor(
      'the Job to be in the status',
      async () => (await rollouts.world.readStatus('gone')).checks?.[0]?.job?.name === job.metadata.name,
    );
    await rollouts.world.cluster.request('DELETE', `${path('jobs')}/${job.metadata.name}`, { propagationPolicy: 'Background' });
    const held = await rollouts.world.waitForCondition('gone', 'Held', 'CheckTimedOut');
    assert.match(held.message, /is gone before it had a verdict/);
    assert.deepEqual(await jobsOf('gone'), []);
  });

  it('runs no Job from a CronJob whose owner does not allow that', async () => {
    await create('foreign', 'nightly', '3s');
    await push('foreign', '1.0.1');
    const held = await rollouts.world.waitForCondition('foreign', 'Held', 'CheckTimedOut');
    assert.match(held.message, /CronJob nightly is not allowed for checks/);
    assert.deepEqual(await jobsOf('foreign'), []);
  });
});
