/** Production runs what staging has proven: two policies, the real controllers; what the kubelet would say is written by the test. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { runCommand } from '../cli/run-command.ts';
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

  it('production waits for the required time, which restarts when staging was unavailable', async () => {
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

  it('the required time restarts when staging ran another image while the service was down', async () => {
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

  it('production gets only the digest if the tag was moved since staging got it', async () => {
    const first = await createStaging('moved');
    const production = await createProduction('moved', first, { select: { proven: { policies: [{ name: 'moved' }], for: '2h' } } });
    const digest = await update('moved', '1.1.0');
    await kubelet.becomesReady('moved', image('moved', '1.1.0', digest));
    await world.waitForCondition(production, 'Reconciling', 'NotProven');
    await rollouts.push('moved', '1.1.0', 'another image of the same tag');
    await world.patchPolicy(production, { select: { proven: { policies: [{ name: 'moved' }], for: null } } });
    await world.waitForImage(production, `${repository('moved')}@${digest}`);
  });

  it('production waits for a copy of the image in another repository, until the copy is pushed', async () => {
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

  it('a policy follows one of another namespace only with consent, and learns nothing about it without', async () => {
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

  const cli = (command: string, name: string, ...args: string[]) =>
    runCommand(command, [`${world.namespace}/${name}`, ...args, '--kubeconfig', world.cluster.kubeconfigPath]);
  const slowly = (name: string): Partial<Spec> => ({ select: { proven: { policies: [{ name }], for: '2h' } } });

  it('the command promote applies the image that waits before it is proven, and no other image', async () => {
    const first = await createStaging('urgent');
    const production = await createProduction('urgent', first, slowly('urgent'));
    const none = await cli('promote', production);
    assert.deepEqual([none.code, none.out], [1, ''], 'nothing waits');
    assert.match(none.err, /nothing was promoted .*: no image waits for its proof/);
    const digest = await update('urgent', '1.1.0');
    // A forged promotion of what staging does not run yet changes nothing, also when the command is not asked.
    await world.annotate(world.policyPath(production), { 'operator.technomad.dev/promote': `1.1.0@${digest}` });
    await waitFor('production to know that staging is under way', async () => (await world.readStatus(production)).follows?.[0]?.message);
    await world.annotate(world.policyPath(production), { 'operator.technomad.dev/promote': `1.1.0@${first}` });
    await kubelet.becomesReady('urgent', image('urgent', '1.1.0', digest));
    await world.waitForCondition(production, 'Reconciling', 'NotProven');
    assert.equal(await runs(production), image('urgent', '1.0.0', first));
    assert.equal((await cli('promote', production, '1.0.0')).code, 1, 'another tag waits');
    const done = await cli('promote', production, '--reason', 'fixes the outage', '--output', 'json');
    assert.deepEqual([done.code, JSON.parse(done.out)], [0, { namespace: world.namespace, name: production, promoted: `1.1.0@${digest}` }]);
    await world.waitForImage(production, image('urgent', '1.1.0', digest));
    const status = await waitFor('the history', async () => {
      const found = await world.readStatus(production);
      return found.history?.[0]?.digest === digest && found;
    });
    assert.equal(status.history?.[0]?.trigger, 'Approval');
    assert.equal((await cli('promote', production)).code, 1, 'it is applied');
  });

  it('a policy on hold keeps its image until one image is promoted or the policy is released', async () => {
    const first = await createStaging('still');
    const production = await createProduction('still', first);
    assert.equal((await cli('hold', production, '--reason', 'sale until Monday')).code, 0);
    const second = await update('still', '1.1.0');
    await kubelet.becomesReady('still', image('still', '1.1.0', second));
    const held = await world.waitForCondition(production, 'Held', 'OnHold');
    assert.match(held.message, /1\.1\.0 is not applied, because the policy is on hold \(since .* by .*: sale until Monday\)/);
    assert.equal(await runs(production), image('still', '1.0.0', first));
    const { out, code } = await cli('explain', production);
    assert.equal(code, 1);
    assert.match(out, /· hold +OnHold: on hold \(since .*: sale until Monday\)/);
    assert.match(out, /✗ on-hold +OnHold: 1\.1\.0 is not applied/);
    assert.equal((await cli('promote', production)).code, 0);
    await world.waitForImage(production, image('still', '1.1.0', second));
    const third = await update('still', '1.2.0');
    await kubelet.becomesReady('still', image('still', '1.2.0', third));
    await waitFor('the hold to be that of the next image', async () =>
      (await world.readStatus(production)).conditions?.some(({ reason, message }) => reason === 'OnHold' && message.startsWith('1.2.0 ')),
    );
    assert.equal(await runs(production), image('still', '1.1.0', second));
    assert.equal((await cli('release', production)).code, 0);
    await world.waitForImage(production, image('still', '1.2.0', third));
  });

  it('explain shows for a follower which environment runs which image, and for a followed policy only its own', async () => {
    const first = await createStaging('shown');
    const production = await createProduction('shown', first, slowly('shown'));
    const digest = await update('shown', '1.1.0');
    await kubelet.becomesReady('shown', image('shown', '1.1.0', digest));
    await world.waitForCondition(production, 'Reconciling', 'NotProven');
    const { out, code } = await cli('explain', production);
    assert.equal(code, 1);
    const table = out.slice(out.indexOf('\nIMAGE ')).trim().split('\n');
    assert.deepEqual(table[0]?.split(/ {2,}/), ['IMAGE', `${world.namespace}/shown`, `${world.namespace}/${production}`]);
    const row = (of: string) =>
      table
        .find((line) => line.includes(of.slice(0, 19)))
        ?.split(/ {2,}/)
        .join('|') ?? out;
    assert.match(row(digest), /^1\.1\.0 sha256:\w{12}…\|healthy for \S+\|waits for \S+ until \S+ \(NotProven\)$/);
    assert.match(row(first), /sha256:\w{12}…\|-\|runs$/);
    const json = JSON.parse((await cli('explain', production, '--output', 'json')).out) as { environments: { policies: unknown[] } };
    const { namespace } = world;
    assert.deepEqual(json.environments.policies, [
      { namespace, name: 'shown' },
      { namespace, name: production },
    ]);
    const followed = await cli('explain', 'shown');
    assert.deepEqual([followed.code, followed.out.includes('\nIMAGE ')], [0, false]);
  });

  it('a policy with its own selection and update.after waits until the followed policy has proven the image', async () => {
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
