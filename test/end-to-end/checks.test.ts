/** Checks with a veto (rollout.checks), with the real controllers, and endpoints that answer well, badly, late and not at all. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startEndpoint, startPrometheus, verdict, type Reply } from '../harness/check-servers.ts';
import { resultsOf, startRolloutWorld, type RolloutWorld } from './rollout-world.ts';

const key = 'a key of checks';
type Checks = NonNullable<NonNullable<Spec['rollout']>['checks']>;

describe('the checks of a policy', () => {
  let rollouts: RolloutWorld;
  let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
  let prometheus: Awaited<ReturnType<typeof startPrometheus>>;
  /** `check tag` → what the endpoint answers, by the number of earlier questions. */
  const replies = new Map<string, (earlier: number) => Reply>();
  const numbers = new Map<string, readonly string[] | Reply>();

  before(async () => {
    endpoint = await startEndpoint(key, ({ data }, earlier) => replies.get(`${data.check} ${data.tag}`)?.(earlier) ?? verdict('wait'));
    prometheus = await startPrometheus((query) => numbers.get(query) ?? []);
    const config = { checks: { hosts: [endpoint.host], prometheus: [{ name: 'main', url: prometheus.origin }] } };
    rollouts = await startRolloutWorld({ config });
    const { cluster, namespace } = rollouts.world;
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'checks' },
      stringData: { key },
    });
  });
  after(async () => {
    await rollouts?.stop();
    await endpoint.stop();
    await prometheus.stop();
  });

  const http = () => ({ url: endpoint.url, secretRef: { name: 'checks', key: 'key' } });
  const create = (name: string, checks: Checks, more: Spec['rollout'] = {}) =>
    rollouts.create(name, { onFailure: 'Rollback', ...more, checks });
  const push = async (name: string, tag: string) => {
    const digest = await rollouts.push(name, tag);
    await rollouts.announce(name, tag);
    return digest;
  };
  const verdictsOf = async (name: string) =>
    ((await rollouts.world.readStatus(name)).checks ?? []).map(({ name: check, tag, state }) => `${check} ${tag} ${state}`);
  const waitForVerdicts = (name: string, ...expected: string[]) =>
    waitFor(`the verdicts of ${name} to be ${expected.join(', ')}`, async () => {
      assert.deepEqual(await verdictsOf(name), expected);
      return true;
    });
  const idsOf = (check: string, tag: string) =>
    new Set(endpoint.events.filter(({ data }) => data.check === check && data.tag === tag).map(({ id }) => id));

  it('before: no workload is changed before the verdict, and all immediately after a good verdict', async () => {
    replies.set('gate 1.0.1', (earlier) => (earlier < 2 ? [{ status: 503, body: 'busy' }, verdict('wait')][earlier]! : verdict('pass')));
    await create('before', [{ name: 'gate', phase: 'before', every: '1s', http: http() }]);
    const digest = await push('before', '1.0.1');
    await rollouts.world.waitForCondition('before', 'Reconciling', 'CheckPending');
    const deployment = await rollouts.world.waitForImage('before', rollouts.image('before', '1.0.1'));
    assert.equal(deployment.metadata.generation, 2);
    await waitForVerdicts('before', 'gate 1.0.1 Passed');
    assert.deepEqual([...idsOf('gate', '1.0.1')].length, 1, 'one question, asked three times');
    const [event] = endpoint.events;
    assert.ok(event?.isSigned);
    assert.equal(event.data.digest, digest);
    await rollouts.kubelet.becomesReady('before', rollouts.image('before', '1.0.1'));
    await rollouts.waitForResults('before', '1.0.1 TargetChange RolledOut');
  });

  it('before: a bad verdict holds the image until a release or a newer image', async () => {
    replies.set('veto 1.0.1', () => verdict('fail', 'the schema is not migrated'));
    replies.set('veto 1.0.2', () => verdict('pass'));
    await create('veto', [{ name: 'veto', phase: 'before', every: '1s', http: http() }]);
    await push('veto', '1.0.1');
    const held = await rollouts.world.waitForCondition('veto', 'Held', 'CheckFailed');
    assert.match(held.message, /the check veto failed: the schema is not migrated/);
    await push('veto', '1.0.2');
    await rollouts.world.waitForImage('veto', rollouts.image('veto', '1.0.2'));
    const status = await rollouts.world.readStatus('veto');
    assert.deepEqual(
      resultsOf(status).filter((one) => one.startsWith('1.0.1')),
      [],
      'the image was never applied',
    );
  });

  it('after: a bad verdict counts as a failed rollout, which is rolled back, and the digest is rejected', async () => {
    replies.set('smoke 1.0.1', (earlier) => (earlier === 0 ? 'reset' : verdict('fail', 'checkout answers 500')));
    await create('after', [{ name: 'smoke', every: '1s', http: http() }]);
    const digest = await push('after', '1.0.1');
    await rollouts.world.waitForImage('after', rollouts.image('after', '1.0.1'));
    await rollouts.kubelet.becomesReady('after', rollouts.image('after', '1.0.1'));
    await rollouts.world.waitForImage('after', rollouts.image('after', '1.0.0'));
    const { rejected = [] } = await rollouts.world.readStatus('after');
    assert.deepEqual(
      rejected.map((one) => [one.digest, one.reason]),
      [[digest, 'CheckFailed']],
    );
    assert.match(rejected[0]?.message ?? '', /the check smoke failed: checkout answers 500/);
    assert.equal(idsOf('smoke', '1.0.1').size, 1);
  });

  it('after: a query passes when its numbers are good for long enough, and waits while there are no data', async () => {
    numbers.set('errors', []);
    await create('query', [{ name: 'errors', every: '1s', for: '2s', prometheus: { server: 'main', query: 'errors', max: 0.01 } }]);
    await push('query', '1.0.1');
    await rollouts.world.waitForImage('query', rollouts.image('query', '1.0.1'));
    await rollouts.kubelet.becomesReady('query', rollouts.image('query', '1.0.1'));
    await waitFor(
      'the answer to be in the status',
      async () => (await rollouts.world.readStatus('query')).checks?.[0]?.message === 'the query has no result',
    );
    assert.deepEqual(resultsOf(await rollouts.world.readStatus('query')), ['1.0.1 Webhook Applied']);
    numbers.set('errors', ['NaN', '0.001']);
    await waitFor(
      'NaN to be told',
      async () => (await rollouts.world.readStatus('query')).checks?.[0]?.message === '1 of 2 results are NaN',
    );
    numbers.set('errors', ['0.001']);
    await rollouts.waitForResults('query', '1.0.1 Webhook RolledOut');
    await waitForVerdicts('query', 'errors 1.0.1 Passed');
  });

  it('after: a check without a verdict in time rolls the image back, without rejecting it', async () => {
    replies.set('hang 1.0.1', () => 'silence');
    await create('hangs', [{ name: 'hang', every: '1s', timeout: '2s', http: http() }]);
    await push('hangs', '1.0.1');
    await rollouts.world.waitForImage('hangs', rollouts.image('hangs', '1.0.1'));
    await rollouts.kubelet.becomesReady('hangs', rollouts.image('hangs', '1.0.1'));
    await rollouts.world.waitForImage('hangs', rollouts.image('hangs', '1.0.0'));
    const { rejected = [], history = [] } = await rollouts.world.readStatus('hangs');
    assert.deepEqual(rejected, []);
    assert.equal(history.find(({ tag }) => tag === '1.0.1')?.failure?.reason, 'CheckTimedOut');
  });

  it('never call a host that the operator does not allow', async () => {
    await create('foreign', [{ name: 'foreign', phase: 'before', every: '1s', http: { ...http(), url: 'http://127.0.0.1:9/verdicts' } }]);
    await push('foreign', '1.0.1');
    await waitFor('the reason to be in the status', async () =>
      /checks\.hosts/.test((await rollouts.world.readStatus('foreign')).checks?.[0]?.message ?? ''),
    );
  });

  it('ask the same question again after kill -9 between the answer and its record, and have one verdict', async () => {
    let isKilled = false;
    replies.set('killed 1.0.1', () => {
      if (!isKilled) {
        isKilled = true;
        void rollouts.service.kill9();
        return 'silence';
      }
      return verdict('pass');
    });
    await create('killed', [{ name: 'killed', phase: 'before', every: '1s', http: http() }]);
    await push('killed', '1.0.1');
    await waitFor('the service to be killed', () => isKilled);
    assert.equal((await rollouts.world.readDeployment('killed')).metadata.generation, 1);
    await rollouts.service.restart();
    await rollouts.world.waitForImage('killed', rollouts.image('killed', '1.0.1'));
    await waitForVerdicts('killed', 'killed 1.0.1 Passed');
    assert.equal(idsOf('killed', '1.0.1').size, 1);
  });
});
