/** charts/install over the definition of a service from before v1: nothing that anybody reads changes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { crdName } from '../../src/service/resources/group.ts';
import { installCrd, policiesPath } from '../service/resources/install-crd.ts';
import { runCommand } from '../cli/run-command.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import type { Manifest } from '../harness/helm.ts';
import { startService, type Service } from '../harness/service.ts';
import { waitFor } from '../harness/wait-for.ts';
import { resourceOf } from './manifests.ts';

const root = join(import.meta.dirname, '../..');
const namespace = 'image-watcher';
const crdPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
const objects = parseAllDocuments(readFileSync(join(root, 'charts/install/base/install.yaml'), 'utf8')).map(
  (document) => document.toJS() as Manifest,
);

describe('charts/install over an older definition', () => {
  let cluster: ControlPlane;
  let converting: Service | undefined;
  before(async () => {
    cluster = await borrowControlPlane();
    await installCrd(cluster, ['v1alpha1']);
  });
  after(async () => {
    await converting?.stop();
    await cluster.stop();
  });

  const policies = () => cluster.request('GET', policiesPath('default', 'v1alpha1'));
  const sample = parseAllDocuments(readFileSync(join(root, 'crd/samples/v1alpha1.yaml'), 'utf8'))[0]?.toJS() as Manifest;

  it('leaves the older definition and its policies unchanged, and names the first step of the upgrade', async () => {
    await cluster.request('POST', policiesPath('default', 'v1alpha1'), { ...sample, metadata: { name: sample.metadata.name } });
    const [{ spec }, { items }] = [await cluster.request('GET', crdPath), await policies()];
    for (const object of objects) {
      const path = `${resourceOf(object, namespace)}/${object.metadata.name}?fieldManager=kubectl&fieldValidation=Strict`;
      await cluster.request('PATCH', path, object, 'application/apply-patch+yaml');
    }
    converting = await startService({
      redisUrl: 'redis://127.0.0.1:1',
      kubeconfig: cluster.kubeconfigPath,
      roles: 'convert',
      config: { namespace },
    });
    // The service creates it after its start, because it waits for no API server.
    const secretPath = `/api/v1/namespaces/${namespace}/secrets/image-watcher-conversion`;
    await waitFor('the certificate', () => cluster.request('GET', secretPath));
    const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('definition'));
    assert.ok(job);
    const { template } = job['spec'] as { template: { spec: { containers: [{ args: string[] }] } } };
    const [command = '', ...args] = template.spec.containers[0].args;
    const { conversionUrl } = converting;
    const endpoint = args.flatMap((arg) => (arg === '--conversion-service' ? ['--conversion-url', conversionUrl, '--ca-secret'] : [arg]));
    const { code, err } = await runCommand(command, [...endpoint, '--kubeconfig', cluster.kubeconfigPath]);
    assert.equal(code, 1);
    assert.match(
      err,
      /^applying \S+ failed: the cluster has the definition of an older image-watcher, whose service must stop before, and nothing was changed: follow \S+\/upgrading\.md, from its first step\n$/,
    );
    assert.deepEqual((await cluster.request('GET', crdPath)).spec, spec);
    assert.deepEqual((await policies()).items, items);
    // What the page says then: the same command, by somebody who knows that the older service has stopped.
    const upgrade = endpoint.filter((arg) => arg !== '--keep-older');
    const upgraded = await runCommand(command, [...upgrade, '--kubeconfig', cluster.kubeconfigPath]);
    assert.equal(upgraded.code, 0, upgraded.err);
    const { items: after } = await waitFor('the new storage', () => policies());
    assert.deepEqual(
      after.map((one: Manifest) => one.spec),
      items.map((one: Manifest) => one.spec),
    );
  });

  it('makes commands report that the conversion webhook does not answer, after it has stopped', async () => {
    await converting?.stop();
    // A changed definition makes the API server read its policies anew.
    await cluster.request('PATCH', crdPath, {
      spec: { conversion: { webhook: { clientConfig: { url: 'https://127.0.0.1:1/convert' } } } },
    });
    const err = await waitFor('the API server to notice', async () => {
      const ran = await runCommand('get', ['--kubeconfig', cluster.kubeconfigPath]);
      return ran.code === 1 && ran.err;
    });
    assert.match(
      err,
      /^the API server cannot convert policies, because their conversion webhook does not answer it yet, or no more: start the role convert/,
    );
  });
});
