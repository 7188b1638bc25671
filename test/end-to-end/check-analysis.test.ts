/** Checks that make AnalysisRuns, with the definitions of Argo Rollouts and the permissions of the chart. The test plays its controller: it writes the status of runs. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { installDefinition } from '../service/kube/targets/real-definition.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';

interface Run {
  readonly metadata: { readonly name: string; readonly uid: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly args?: readonly object[]; readonly metrics: readonly object[]; readonly ttlStrategy: object };
}
type Check = NonNullable<NonNullable<Spec['rollout']>['checks']>[number];

describe('a check by an AnalysisRun', () => {
  let rollouts: RolloutWorld;
  before(async () => {
    rollouts = await startRolloutWorld({ config: { checks: { analysis: true } } }, { extraRules: shippedRules('work-analysis') });
  });
  after(() => rollouts?.stop());

  const path = (resource: string) => `/apis/argoproj.io/v1alpha1/namespaces/${rollouts.world.namespace}/${resource}`;
  const web = { web: { url: 'http://metrics.example.com/{{args.tag}}', headers: [{ key: 'token', value: '{{args.token}}' }] } };
  const metric = { name: 'success-rate', interval: '10s', count: 3, successCondition: 'result >= 0.95', provider: web };
  const token = { name: 'token', valueFrom: { secretKeyRef: { name: 'metrics', key: 'token' } } };
  const createTemplate = (name: string, annotations: object, spec: object = {}) =>
    rollouts.world.cluster.request('POST', path('analysistemplates'), {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AnalysisTemplate',
      metadata: { name, annotations },
      spec: { metrics: [metric], args: [{ name: 'tag' }, { name: 'digest' }, token], dryRun: [{ metricName: 'x' }], ...spec },
    });
  const runsOf = async (policy: string) => {
    const { items } = await rollouts.world.cluster.request<{ items: Run[] }>('GET', path('analysisruns'));
    return items.filter(({ metadata }) => metadata.annotations['operator.technomad.dev/check-policy'] === policy);
  };
  const theRun = (policy: string) => waitFor(`the AnalysisRun of ${policy}`, async () => (await runsOf(policy))[0]);
  /** What the controller of Argo Rollouts would write. */
  const ends = (run: Run, phase: string, message = '') =>
    rollouts.world.cluster.request('PATCH', `${path('analysisruns')}/${run.metadata.name}`, { status: { phase, message } });
  const create = (name: string, check: Partial<Check> = {}, template = 'success-rate') =>
    rollouts.create(name, {
      onFailure: 'Rollback',
      checks: [{ name: 'success', phase: 'before', every: '1s', timeout: '10m', retries: 0, ...check, analysis: { template } }],
    });
  const push = async (name: string, tag: string) => {
    const digest = await rollouts.push(name, tag);
    await rollouts.announce(name, tag);
    return digest;
  };
  const waitForAnswer = (name: string, answer: RegExp) =>
    waitFor(`the check of ${name} to say ${answer}`, async () =>
      answer.test((await rollouts.world.readStatus(name)).checks?.[0]?.message ?? ''),
    );

  it('reports that Argo Rollouts is not installed, and works as soon as it is installed', async () => {
    await create('early');
    await push('early', '1.0.1');
    await waitForAnswer('early', /Argo Rollouts is not installed in this cluster/);
    await installDefinition(rollouts.world.cluster, 'analysistemplate');
    await installDefinition(rollouts.world.cluster, 'analysisrun');
    await waitForAnswer('early', /there is no AnalysisTemplate success-rate in the namespace of the policy/);
    await createTemplate('success-rate', {});
    await waitForAnswer('early', /is not allowed for checks: it needs the annotation operator\.technomad\.dev\/check: allow/);
    assert.deepEqual(await runsOf('early'), []);
    await rollouts.world.annotate(`${path('analysistemplates')}/success-rate`, { 'operator.technomad.dev/check': 'allow' });
    await ends(await theRun('early'), 'Successful');
    await rollouts.world.waitForImage('early', rollouts.image('early', '1.0.1'));
  });

  it('creates one AnalysisRun as the template says, also when the service is killed', async () => {
    await create('good');
    const digest = await push('good', '1.0.1');
    const run = await theRun('good');
    await rollouts.service.kill9();
    await rollouts.service.restart();
    assert.deepEqual(run.spec.metrics, [metric]);
    assert.deepEqual(run.spec.args, [{ name: 'tag', value: '1.0.1' }, { name: 'digest', value: digest }, token]);
    assert.deepEqual(run.spec.ttlStrategy, { secondsAfterCompletion: 3_600 });
    await ends(run, 'Running');
    await waitForAnswer('good', /the AnalysisRun success-[0-9a-f]+ runs$/);
    assert.equal((await rollouts.world.readDeployment('good')).metadata.generation, 1);
    await ends(run, 'Successful');
    await rollouts.world.waitForImage('good', rollouts.image('good', '1.0.1'));
    assert.deepEqual(
      (await runsOf('good')).map(({ metadata }) => metadata.uid),
      [run.metadata.uid],
    );
  });

  it('that fails holds the image, and a release creates another AnalysisRun', async () => {
    await create('bad');
    await push('bad', '1.0.1');
    const run = await theRun('bad');
    await ends(run, 'Failed', 'Metric "success-rate" assessed Failed due to failed (1) > failureLimit (0)');
    const held = await rollouts.world.waitForCondition('bad', 'Held', 'CheckFailed');
    assert.match(held.message, /the check success failed: the AnalysisRun success-[0-9a-f]+ failed: Metric "success-rate" assessed Failed/);
    await rollouts.world.annotate(rollouts.world.policyPath('bad'), { 'operator.technomad.dev/release': new Date().toISOString() });
    const second = await waitFor('another AnalysisRun', async () =>
      (await runsOf('bad')).find(({ metadata }) => metadata.uid !== run.metadata.uid),
    );
    await ends(second, 'Successful');
    await rollouts.world.waitForImage('bad', rollouts.image('bad', '1.0.1'));
    assert.equal((await runsOf('bad')).length, 2);
  });

  it('after the rollout that fails counts as a failed rollout, which is rolled back, and the digest is rejected', async () => {
    await create('after', { phase: 'after' });
    const digest = await push('after', '1.0.1');
    await rollouts.world.waitForImage('after', rollouts.image('after', '1.0.1'));
    await rollouts.kubelet.becomesReady('after', rollouts.image('after', '1.0.1'));
    await ends(await theRun('after'), 'Failed', 'too slow');
    await rollouts.world.waitForImage('after', rollouts.image('after', '1.0.0'));
    const { rejected = [] } = await rollouts.world.readStatus('after');
    assert.deepEqual(
      rejected.map((one) => [one.digest, one.reason]),
      [[digest, 'CheckFailed']],
    );
  });

  it('without a verdict, or whose run is deleted, holds the image after the timeout, and does not reject it', async () => {
    const names = ['inconclusive', 'broken', 'gone'];
    for (const name of names) {
      await create(name, { timeout: '30s' });
      await push(name, '1.0.1');
    }
    await ends(await theRun('inconclusive'), 'Inconclusive', 'no numbers');
    await ends(await theRun('broken'), 'Error', 'no such host');
    const { metadata } = await theRun('gone');
    await waitFor('the run to be in the status', async () => (await rollouts.world.readStatus('gone')).checks?.[0]?.job !== undefined);
    await rollouts.world.cluster.request('DELETE', `${path('analysisruns')}/${metadata.name}`);
    const why = [/ is inconclusive: no numbers/, / could not measure: no such host/, / is gone before it had a verdict/];
    for (const [index, name] of names.entries()) {
      const held = await rollouts.world.waitForCondition(name, 'Held', 'CheckTimedOut');
      assert.match(held.message, why[index] ?? assert.fail());
      assert.deepEqual((await rollouts.world.readStatus(name)).rejected ?? [], []);
    }
    assert.deepEqual(await Promise.all(names.map(async (name) => (await runsOf(name)).length)), [1, 1, 0]);
  });

  it('creates no AnalysisRun from a template that would measure for longer than the check, or without end', async () => {
    const allow = { 'operator.technomad.dev/check': 'allow' };
    await createTemplate('endless', allow, { metrics: [{ ...metric, count: undefined }] });
    await create('endless', {}, 'endless');
    await push('endless', '1.0.1');
    await waitForAnswer('endless', /AnalysisTemplate endless makes no run: the end of its metric success-rate is not known/);
    assert.deepEqual(await runsOf('endless'), []);
  });
});
