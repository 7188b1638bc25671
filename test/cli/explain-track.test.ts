/** `explain` against a real API server: which container stays because of another policy, before the service has seen any of it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { condition, startCliWorld, statusOf, withNamespace, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

describe('explain of a policy whose target another policy has as well', () => {
  let world: CliWorld;
  const image = 'harbor.example.com/shop/web';
  const targets = [{ kind: 'Deployment', name: 'web' }];
  const explain = async (policy: string, kubeconfig = world.kubeconfig) => {
    const { err, out } = await runCommand('explain', [policy, '--kubeconfig', kubeconfig]);
    return { err, out: out.replaceAll(world.namespace, 'shop') };
  };
  const create = async (name: string, select: object, tag: string, rest: object = {}) => {
    await world.create(name, { image, targets, select, ...rest });
    await world.report(name, { ...statusOf(world, name, { runs: tag, latest: tag }, condition('Ready', 'True', 'UpToDate')), targets: [] });
  };
  before(async () => {
    world = await startCliWorld();
    const containers = Object.entries({ app: '1.4.0', alpine: '1.4.0-alpine', dev: 'develop' });
    const labels = { app: 'web' };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${world.namespace}/deployments`, {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: containers.map(([name, tag]) => ({ name, image: `${image}:${tag}` })) } },
      },
    });
    await create('plain', { semver: { range: '1.x' } }, '1.5.0');
  });
  after(() => world.stop());

  it('keeps only the container with a variant if no other policy exists', async () => {
    const { out } = await explain('plain');
    assert.match(out, /✓ container +app would be changed from \S+:1\.4\.0 to \S+:1\.5\.0\n/);
    assert.match(
      out,
      /✗ container +OtherTrack: alpine stays at \S+: alpine runs 1\.4\.0-alpine, which is of another track than 1\.5\.0: if it is to be/,
    );
    assert.match(out, /✓ container +dev would be changed from \S+:develop to \S+:1\.5\.0\n/);
  });

  it('names the policy that follows the tag, and the policy that follows the variant', async () => {
    const tags = { allow: '^(?P<version>[0-9.]+)-alpine$', extract: '${version}' };
    await create('alpine', { semver: {} }, '1.5.0-alpine', { tags });
    await create('dev', { digest: { tag: 'develop' } }, 'develop');
    const { out, err } = await explain('plain');
    assert.equal(err, '');
    assert.match(out, /✓ container +app would be changed from \S+:1\.4\.0 to \S+:1\.5\.0\n/);
    assert.match(
      out,
      /✗ container +OtherTrack: alpine stays at \S+: alpine runs 1\.4\.0-alpine, which is of another track than 1\.5\.0, that of ImagePolicy shop\/alpine: /,
    );
    assert.match(out, /✗ container +OtherTrack: dev stays at \S+: dev runs develop, which ImagePolicy shop\/dev follows: /);
    const { out: differs } = await runCommand('diff', ['plain', '--kubeconfig', world.kubeconfig]);
    assert.match(differs, /dev stays at \S+:develop: OtherTrack: /);
  });

  it('says without the permission to list policies that it does not know them', async () => {
    const rules = [
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
    ];
    const kubeconfig = withNamespace(await kubeconfigWithRules(world.cluster, world.namespace, 'limited', rules), world.namespace);
    const { out, err } = await explain('plain', kubeconfig);
    assert.equal(
      err.replaceAll(world.namespace, 'shop'),
      'you may not list ImagePolicies in shop, so whether another policy follows what runs is not known here\n',
    );
    assert.match(out, /dev would be changed from/);
  });
});
