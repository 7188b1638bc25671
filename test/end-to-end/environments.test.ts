/** Production runs what staging has proven: two policies, the real controllers; what the kubelet would say is written by the test. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startRolloutWorld, type RolloutWorld } from './rollout-world.ts';
import type { Deployment } from './world.ts';

/** A Deployment with what its controller says. */
interface Out extends Deployment {
  readonly status: { readonly observedGeneration: number; readonly replicas: number; readonly availableReplicas?: number };
}

describe('environments', () => {
  let rollouts: RolloutWorld;
  let world: RolloutWorld['world'];
  let kubelet: RolloutWorld['kubelet'];
  before(async () => {
    rollouts = await startRolloutWorld();
    ({ world, kubelet } = rollouts);
  });
  after(() => rollouts.stop());

  const repository = (name: string) => `${world.quiet.host}/shop/${name}`;
  const image = (name: string, tag: string, digest: string) => `${repository(name)}:${tag}@${digest}`;
  /** Staging selects versions, and is out with 1.0.0. */
  const createStaging = async (name: string, update: Spec['update'] = { pin: 'Digest' }) => {
    const digest = await rollouts.push(name, '1.0.0');
    await world.createDeployment(name, `${repository(name)}:1.0.0@${digest}`);
    await kubelet.becomesReady(name, image(name, '1.0.0', digest));
    const rollout: Spec['rollout'] = { onFailure: 'Rollback' };
    await world.createPolicy(name, repository(name), { strategy: 'SemVer' }, { rollout, ...(update && { update }) });
    await world.waitForFirstLook(name);
    return digest;
  };
  /** Production follows staging, and begins with the same image unless another repository is given. */
  const createProduction = async (staging: string, digest: string, spec: Partial<Spec> = {}) => {
    const name = `${staging}-production`;
    await world.createDeployment(name, `${spec.image ?? repository(staging)}:1.0.0@${digest}`);
    const more: Partial<Spec> = { select: { proven: { policies: [{ name: staging }] } }, rollout: {}, ...spec };
    await world.createPolicy(name, repository(staging), { strategy: 'SemVer' }, more);
    await waitFor(`${name} to have seen ${staging}`, async () => (await world.readStatus(name)).follows?.[0]?.digest === digest);
    return name;
  };
  const update = async (name: string, tag: string) => {
    const digest = await rollouts.push(name, tag);
    await rollouts.announce(name, tag, digest);
    await world.waitForImage(name, image(name, tag, digest));
    return digest;
  };
  const runs = async (name: string) => (await world.readDeployment(name)).spec.template.spec.containers[0]?.image;

  it('production gets the digest when staging has rolled it out, and not before', async () => {
    const first = await createStaging('web');
    const production = await createProduction('web', first);
    const digest = await update('web', '1.1.0');
    await waitFor('production to know that staging is under way', async () => (await world.readStatus(production)).follows?.[0]?.message);
    assert.equal(await runs(production), image('web', '1.0.0', first));
    await kubelet.becomesReady('web', image('web', '1.1.0', digest));
    const { spec } = await world.waitForImage(production, image('web', '1.1.0', digest));
    assert.equal(spec.template.spec.containers[0]?.image, image('web', '1.1.0', digest));
    const status = await waitFor('the status of production', async () => {
      const found = await world.readStatus(production);
      return found.latest?.digest === digest && found.follows?.[0]?.digest === digest && found;
    });
    assert.equal(status.follows?.[0]?.tag, '1.1.0');
    assert.equal((await world.readStatus('web')).healthy?.digest, digest);
  });

  it('production waits for the time, which begins anew where staging was unavailable in between', async () => {
    const first = await createStaging('slow');
    const production = await createProduction('slow', first, { select: { proven: { policies: [{ name: 'slow' }], for: '2h' } } });
    const digest = await update('slow', '1.1.0');
    await kubelet.becomesReady('slow', image('slow', '1.1.0', digest));
    const waiting = await world.waitForCondition(production, 'Reconciling', 'NotProven');
    assert.match(waiting.message, /1\.1\.0 waits until/);
    const { waiting: until } = await world.readStatus(production);
    const since = (await world.readStatus('slow')).healthy?.since ?? '';
    assert.equal(Date.parse(until?.until ?? ''), Date.parse(since) + 2 * 3_600_000);
    await kubelet.runs('slow', image('slow', '1.1.0', digest));
    await waitFor('staging to show nothing', async () => (await world.readStatus('slow')).healthy === undefined);
    await world.waitForCondition(production, 'Ready', 'NotProven');
    await kubelet.becomesReady('slow', image('slow', '1.1.0', digest));
    const again = await waitFor('staging to show it again', async () => (await world.readStatus('slow')).healthy);
    assert.ok(Date.parse(again.since) >= Date.parse(since));
    await waitFor('production to wait anew', async () => {
      const { waiting: wait } = await world.readStatus(production);
      return Date.parse(wait?.until ?? '') === Date.parse(again.since) + 2 * 3_600_000;
    });
    assert.equal(await runs(production), image('slow', '1.0.0', first));
  });

  it('the time begins anew where staging ran another image while nobody was there', async () => {
    const first = await createStaging('unseen');
    const production = await createProduction('unseen', first, { select: { proven: { policies: [{ name: 'unseen' }], for: '2h' } } });
    const known = await waitFor('staging to show its image', async () => (await world.readStatus('unseen')).healthy);
    const own = image('unseen', '1.0.0', first);
    const other = image('unseen', '0.9.0', await rollouts.push('unseen', '0.9.0'));
    await waitFor('another second', () => Date.now() > Date.parse(known.since));
    await rollouts.service.kill9();
    for (const next of [other, own]) {
      await world.setImage('unseen', next);
      await kubelet.becomesReady('unseen', next);
      await waitFor(`${next} to be out`, async () => {
        const { status, metadata } = await world.cluster.request<Out>('GET', world.deploymentPath('unseen'));
        return status.observedGeneration === metadata.generation && status.availableReplicas === 1 && status.replicas === 1;
      });
    }
    await rollouts.service.restart();
    await waitFor('staging to show it since later', async () => (await world.readStatus('unseen')).healthy?.since !== known.since);
    const { follows } = await waitFor('production to have seen it', async () => {
      const [status, { healthy }] = await Promise.all([world.readStatus(production), world.readStatus('unseen')]);
      return healthy !== undefined && status.follows?.[0]?.since === healthy.since && status;
    });
    assert.equal(follows?.[0]?.digest, first);
    assert.ok(Date.parse(follows[0].since ?? '') > Date.parse(known.since));
  });

  it('an image that fails in staging never reaches production', async () => {
    const first = await createStaging('bad');
    const production = await createProduction('bad', first);
    const digest = await update('bad', '1.1.0');
    await kubelet.crashes('bad', image('bad', '1.1.0', digest));
    await rollouts.waitForReady('bad', 'RejectedDigest');
    await waitFor('staging to hold the first image again', async () => (await world.readStatus('bad')).healthy?.digest === first);
    await waitFor('production to know it', async () => (await world.readStatus(production)).follows?.[0]?.digest === first);
    const { metadata } = await world.readDeployment(production);
    assert.equal(metadata.generation, 1);
    assert.equal(await runs(production), image('bad', '1.0.0', first));
  });

  it('a tag that has moved since is left out of what is written', async () => {
    const first = await createStaging('moved');
    const production = await createProduction('moved', first, { select: { proven: { policies: [{ name: 'moved' }], for: '2h' } } });
    const digest = await update('moved', '1.1.0');
    await kubelet.becomesReady('moved', image('moved', '1.1.0', digest));
    await world.waitForCondition(production, 'Reconciling', 'NotProven');
    await rollouts.push('moved', '1.1.0', 'another image of the same tag');
    await world.patchPolicy(production, { select: { proven: { policies: [{ name: 'moved' }], for: null } } });
    await world.waitForImage(production, `${repository('moved')}@${digest}`);
  });

  it('a copy in another repository is waited for, and its push is what ends the wait', async () => {
    const first = await createStaging('source');
    await rollouts.push('copies', '1.0.0', 'source 1.0.0');
    const production = await createProduction('source', first, { image: repository('copies') });
    const digest = await update('source', '1.1.0');
    await kubelet.becomesReady('source', image('source', '1.1.0', digest));
    await world.waitForCondition(production, 'Reconciling', 'NotCopied');
    assert.equal(await rollouts.push('copies', 'v1', 'source 1.1.0'), digest);
    await rollouts.announce('copies', 'v1', digest);
    await world.waitForImage(production, `${repository('copies')}@${digest}`);
  });

  it('a policy of another namespace learns and does nothing without consent, and follows as soon as it is given', async () => {
    const first = await createStaging('asked');
    const other = await world.cluster.namespace('production');
    const policies = `/apis/operator.technomad.dev/v1/namespaces/${other}/imagepolicies`;
    const deployments = `/apis/apps/v1/namespaces/${other}/deployments`;
    const labels = { app: 'asked' };
    const pods = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image('asked', '1.0.0', first) }] } };
    await world.cluster.request('POST', deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'asked' },
      spec: { selector: { matchLabels: labels }, template: pods },
    });
    const proven = { policies: [{ namespace: world.namespace, name: 'asked' }] };
    await world.cluster.request('POST', policies, {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name: 'asked' },
      spec: { image: repository('asked'), select: { proven }, targets: [{ kind: 'Deployment', name: 'asked' }] },
    });
    const follows = async () => {
      const { status } = await world.cluster.request<{ status?: PolicyStatus }>('GET', `${policies}/asked`);
      return status?.follows?.[0];
    };
    const digest = await update('asked', '1.1.0');
    await kubelet.becomesReady('asked', image('asked', '1.1.0', digest));
    await rollouts.waitForResults('asked', '1.1.0 Webhook RolledOut');
    const unseen = await waitFor('the follower to have asked', follows);
    assert.match(unseen.message ?? '', /either does not exist or its owners have not consented/);
    assert.equal((await world.readStatus('asked')).healthy, undefined, 'nobody who may see it follows it');
    await world.annotate(world.policyPath('asked'), { 'operator.technomad.dev/allow-policies-from': other });
    await waitFor('the follower to run it', async () => {
      const found = await world.cluster.request<Deployment>('GET', `${deployments}/asked`);
      return found.spec.template.spec.containers[0]?.image === image('asked', '1.1.0', digest);
    });
    await waitFor('the follower to show what it has seen', async () => (await follows())?.digest === digest);
  });

  it('a policy that selects for itself waits for those that it comes after', async () => {
    const first = await createStaging('guarded');
    const name = 'guarded-production';
    await world.createDeployment(name, image('guarded', '1.0.0', first));
    const follow = { after: { policies: [{ name: 'guarded' }] } };
    await world.createPolicy(name, repository('guarded'), { strategy: 'SemVer' }, { update: follow, rollout: {} });
    await world.waitForFirstLook(name);
    const digest = await update('guarded', '1.1.0');
    await world.waitForCondition(name, 'Ready', 'NotProven');
    assert.equal(await runs(name), image('guarded', '1.0.0', first));
    await kubelet.becomesReady('guarded', image('guarded', '1.1.0', digest));
    await world.waitForImage(name, image('guarded', '1.1.0', digest));
  });
});
