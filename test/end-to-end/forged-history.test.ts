/** A history that somebody forged, as an earlier version may have stored it: the automatic rollback patches nothing that the policy is not for, and says why. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HistoryEntry, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, deliver, harborBody, startWorld, type Deployment, type Service, type World } from './world.ts';

const evil = 'attacker.example/miner:1';
const rollout = { onFailure: 'Rollback' } as const;

describe('a forged history', () => {
  let world: World;
  let service: Service;
  let elsewhere: string;
  before(async () => {
    world = await startWorld();
    service = await world.start();
    elsewhere = await world.cluster.namespace('elsewhere');
  });
  after(() => world.stop());

  const image = (name: string, tag = '1.0.0') => `${world.quiet.host}/shop/${name}:${tag}`;
  /** Deployment `name` with a container of the policy's repository and one of another, and its policy. */
  const create = async (name: string, targets?: { kind: string; name: string; namespace?: string; containers?: string[] }[]) => {
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.0', content: name });
    await world.createDeployment(name, image(name), image('sidecar'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, { rollout, ...(targets && { targets }) });
    await world.waitForFirstLook(name);
  };
  const createElsewhere = (name: string, image: string) => {
    const labels = { app: name };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c0', image }] } } };
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
    return world.cluster.request('POST', `/apis/apps/v1/namespaces/${elsewhere}/deployments`, body);
  };
  const readElsewhere = (name: string) =>
    world.cluster.request<Deployment>('GET', `/apis/apps/v1/namespaces/${elsewhere}/deployments/${name}`);
  /** As an earlier version stored what the annotation of the view said. */
  const forge = (policy: string, entry: Partial<HistoryEntry>) => {
    const forged = {
      kind: 'Deployment',
      namespace: world.namespace,
      name: policy,
      container: 'c0',
      from: evil,
      to: image(policy),
      tag: '1.0.0',
      trigger: 'Webhook',
      at: '2026-01-01T00:00:00Z',
      result: 'Failed',
      ...entry,
    };
    const status = { history: [forged] };
    return world.cluster.request('PATCH', `${world.policyPath(policy)}/status`, { status }, 'application/merge-patch+json');
  };
  const waitForRefusal = (policy: string) =>
    waitFor(`policy ${policy} to say why`, async () => {
      const { history }: PolicyStatus = await world.readStatus(policy);
      return history?.[0]?.rollbackRefused;
    });
  /** The policy still does its work, and the workload has had no other change than that. */
  const assertStillWorks = async (name: string) => {
    const { digest } = await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.1.0', content: `${name} 1.1.0` });
    assert.equal((await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag: '1.1.0', digest }]))).status, 202);
    assertPatchedTimes(await world.waitForImage(name, image(name, '1.1.0')), 1);
  };

  const refused: [name: string, entry: (name: string) => Partial<HistoryEntry>, why: RegExp][] = [
    ['another-repository', () => ({}), /"attacker\.example\/miner:1" is no image of .*, which the policy is for/],
    ['another-container', () => ({ container: 'c1', from: evil, to: image('sidecar') }), /is no image of/],
    [
      'same-other-repository',
      () => ({ container: 'c1', from: image('sidecar', '0.9.0'), to: image('sidecar') }),
      /sidecar:0\.9\.0" is no image of/,
    ],
    ['another-workload', (name) => ({ name: 'bystander', from: image(name, '0.9.0') }), /it is no target of the policy/],
    [
      'another-namespace',
      (name) => ({ namespace: elsewhere, name: 'bystander', from: image(name, '0.9.0') }),
      /it is no target of the policy/,
    ],
    ['no-such-workload', (name) => ({ namespace: elsewhere, name: 'nobody', from: image(name, '0.9.0') }), /it is no target of the policy/],
  ];

  for (const [name, entryOf, why] of refused) {
    it(`causes no patch, and the policy says why, in the case "${name}"`, async () => {
      await create(name);
      const entry = entryOf(name);
      const isBystander = entry.name === 'bystander';
      const bystander = `${name}-bystander`;
      if (isBystander && entry.namespace === undefined) await world.createDeployment(bystander, image(name));
      else if (isBystander) await createElsewhere(bystander, image(name));
      await forge(name, { ...entry, ...(isBystander && { name: bystander }) });
      const refusal = await waitForRefusal(name);
      assert.equal(refusal.reason, 'RollbackRefused');
      assert.match(refusal.message, why);
      const event = await waitFor('the Event', async () =>
        (await world.waitForEvents('ImagePolicy', name)).find(({ reason }) => reason === 'RollbackRefused'),
      );
      assert.match(event.message, why);
      if (isBystander)
        assertPatchedTimes(await (entry.namespace === undefined ? world.readDeployment(bystander) : readElsewhere(bystander)), 0);
      await assertStillWorks(name);
    });
  }

  it('causes no patch of a target in another namespace without consent, and the policy says what is missing', async () => {
    const target = { kind: 'Deployment', name: 'unasked', namespace: elsewhere };
    await createElsewhere('unasked', image('unasked'));
    await create('unasked', [{ kind: 'Deployment', name: 'unasked' }, target]);
    await forge('unasked', { namespace: elsewhere, from: image('unasked', '0.9.0') });
    await assertStillWorks('unasked');
    assert.match((await world.waitForCondition('unasked', 'Stalled', 'NoConsent')).message, /its owners have not consented/);
    assertPatchedTimes(await readElsewhere('unasked'), 0);
    const events = await world.cluster.request<{ items: { reason: string }[] }>('GET', `/api/v1/namespaces/${elsewhere}/events`);
    assert.deepEqual(
      events.items.map(({ reason }) => reason),
      [],
      'nothing is written into its namespace',
    );
  });

  it('causes no rollback of a container that the target does not name', async () => {
    const name = 'unnamed';
    await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag: '1.0.0', content: name });
    await world.createDeployment(name, image(name), image(name));
    const targets = [{ kind: 'Deployment', name, containers: ['c0'] }];
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, { rollout, targets });
    await world.waitForFirstLook(name);
    await forge(name, { container: 'c1', from: image(name, '0.9.0') });
    assert.match((await waitForRefusal(name)).message, /it is no target of the policy/);
    await assertStillWorks(name);
  });

  it('rolls back a real target of the repository', async () => {
    await create('honest');
    await forge('honest', { from: image('honest', '0.9.0') });
    assertPatchedTimes(await world.waitForImage('honest', image('honest', '0.9.0')), 1);
  });

  it('makes a rollback to "previous" use no image of another repository or another workload', async () => {
    await create('asked');
    await forge('asked', { result: 'RolledOut' });
    const ask = (value: string) => world.annotate(world.policyPath('asked'), { 'operator.technomad.dev/rollback-to': value });
    const waitForAnswer = (value: string) =>
      waitFor('the answer', async () => (await world.readStatus('asked')).lastHandledRollback === value);
    await ask('previous 1');
    await waitForAnswer('previous 1');
    await forge('asked', { result: 'RolledOut', name: 'other', from: image('asked', '0.9.0') });
    await ask('previous 2');
    await waitForAnswer('previous 2');
    const event = (await world.waitForEvents('ImagePolicy', 'asked')).find(({ reason }) => reason === 'NoEarlierImage');
    assert.match(event?.message ?? '', /holds no earlier image of .*\/shop\/asked on its targets: name a tag/);
    await assertStillWorks('asked');
  });
});
