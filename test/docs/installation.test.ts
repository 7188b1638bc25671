/** What docs/installation.md says of a service outside the cluster; what is inside of one is in test/charts/. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { policiesPath } from '../service/resources/install-crd.ts';
import { runCrd } from '../cli/run-command.ts';
import { startControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { startService, type Service } from '../harness/service.ts';
import { waitFor } from '../harness/wait-for.ts';
import { fencesOf, root } from './markdown.ts';
import { shellCommandsOf } from './shell.ts';

const page = readFileSync(join(root, 'docs/installation.md'), 'utf8');
const [, section = ''] = page.split('\n## Outside the cluster\n');
const [v1Only = [], withWebhook = []] = fencesOf(section.split('\n## ')[0] ?? '')
  .filter(({ language }) => language === 'sh')
  .flatMap(({ body }) => shellCommandsOf(body))
  .map(({ words }) => words.slice(words.indexOf('crd')))
  .filter(([command]) => command === 'crd');

describe('docs/installation.md, for a service outside of the cluster:', () => {
  let cluster: ControlPlane;
  let service: Service;
  before(async () => {
    cluster = await startControlPlane({ fsync: false });
    service = await startService({ redisUrl: 'redis://127.0.0.1:1', kubeconfig: cluster.kubeconfigPath, roles: 'convert' });
  });
  after(async () => {
    await service.stop();
    await cluster.stop();
  });

  const crd = async ([, action = '', ...args]: readonly string[]) => {
    const { code, err } = await runCrd(cluster.kubeconfigPath, action, ...args);
    assert.equal(code, 0, err);
  };
  const sample = parse(readFileSync(join(root, 'crd/samples/v1alpha1.yaml'), 'utf8')) as { metadata: { name: string } };
  const create = () =>
    cluster.request('POST', policiesPath('default', 'v1alpha1'), { ...sample, metadata: { name: sample.metadata.name } });

  test('the first command installs v1 alone, and the second command adds v1alpha1', async () => {
    assert.equal(v1Only[2], '--v1-only');
    await crd(v1Only);
    await waitFor('v1 to be served', () => cluster.request('GET', policiesPath('default', 'v1')).then(() => true));
    await assert.rejects(create(), /404/);
    await crd(withWebhook.map((word) => word.replace('https://watcher.example.com:9443/convert', service.conversionUrl)));
    await waitFor('v1alpha1 to be served', () => create());
    const { spec } = await cluster.request('GET', `${policiesPath('default', 'v1')}/${sample.metadata.name}`);
    assert.deepEqual([spec.image, spec.targets.length], ['library/openjdk', 1]);
  });
});
