/** `lint --cluster`: exceptions from waits that there are not, by the configuration and the labels of a real Namespace. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { pushImage } from '../harness/push-image.ts';
import { type Registry, startRegistry } from '../harness/registry.ts';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { startCliWorld, withNamespace, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

describe('warnings of lint --cluster about exceptions from waits', () => {
  let world: CliWorld;
  let registry: Registry;
  before(async () => {
    [world, registry] = await Promise.all([startCliWorld(), startRegistry()]);
    await pushImage({ host: registry.host, repository: 'shop/web', tag: '1.0.0', content: 'web' });
    const image = `${registry.host}/shop/web`;
    await world.deploy('web', `${image}:1.0.0`);
    const verify = { vulnerabilities: { harbor: true } };
    await world.create('web', { image, verify, minAgeUnless: { fixes: 'High' }, update: { windowsUnless: { fixes: 'High' } } });
    await world.cluster.request('PATCH', `/api/v1/namespaces/${world.namespace}`, { metadata: { labels: { tier: 'production' } } });
  });
  after(() => Promise.all([world.stop(), registry.stop()]));

  /** What is said of the policy of the cluster and of the same in a file. */
  async function lint(policyDefaults: object, kubeconfig = world.kubeconfig) {
    const folder = tempFolder('lint-idle');
    const [config, file] = [join(folder, 'config.yaml'), join(folder, 'policy.yaml')];
    writeFileSync(config, stringify({ registries: [{ host: registry.host, insecure: true }], policyDefaults }));
    writeFileSync(file, stringify(await world.cluster.request('GET', world.pathOf('web'))));
    const usual = ['--cluster', '--kubeconfig', kubeconfig, '--docker-config', '/dev/null', '-o', 'json'];
    const run = async (...args: readonly string[]) => {
      const { out } = await runCommand('lint', [...args, ...usual]);
      const { warnings = [] } = JSON.parse(out) as { warnings?: readonly { field: string; message: string }[] };
      return warnings.map(({ field, message }) => `${field} ${/\(known here/.test(message) ? 'as far as known' : 'certain'}`);
    };
    const [stored, written] = [await run('--config', config), await run(file, '--config', config)];
    assert.deepEqual(written, stored);
    return { stored, unread: await run() };
  }

  const both = ['spec.minAgeUnless', 'spec.update.windowsUnless'];
  const windows = [{ from: '09:00', to: '17:00' }];

  it('are certain with a configuration that has no such wait, and say that they are not certain without a configuration', async () => {
    const { stored, unread } = await lint({});
    assert.deepEqual([stored, unread], [both.map((field) => `${field} certain`), both.map((field) => `${field} as far as known`)]);
  });

  it('are absent if a default for the labels of the Namespace has the wait, and present if it is for other labels', async () => {
    const of = (tier: string) => ({ namespaces: [{ selector: { matchLabels: { tier } }, minAge: '1h', windows }] });
    assert.deepEqual((await lint(of('production'))).stored, []);
    assert.deepEqual(
      (await lint(of('staging'))).stored,
      both.map((field) => `${field} certain`),
    );
  });

  it('are absent if the labels of the Namespace may not be read', async () => {
    const rules = [
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
      { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] },
    ];
    const kubeconfig = withNamespace(await kubeconfigWithRules(world.cluster, world.namespace, 'blind', rules), world.namespace);
    const { stored } = await lint({ namespaces: [{ selector: { matchLabels: { tier: 'staging' } }, minAge: '1h', windows }] }, kubeconfig);
    assert.deepEqual(stored, []);
  });
});
