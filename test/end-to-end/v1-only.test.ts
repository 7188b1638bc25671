/** All roles on somebody's own machine, for a cluster that never had v1alpha1. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { crdName } from '../../src/service/resources/group.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type Service, type World } from './world.ts';

describe('a definition with v1 alone', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld({ crd: customResourceDefinition({ v1Only: true }) });
    // Somebody who may do everything, and has a kubeconfig.
    service = await world.start({ kubeconfig: world.cluster.kubeconfigPath, config: { namespace: 'not-there' } });
  });
  after(() => world.stop());

  const readyz = async () => (await fetch(`${service.operationsUrl}/readyz?verbose`)).text();

  it('needs no conversion: the service requests no Secret, and logs that once', async () => {
    await waitFor('the role to be off', async () =>
      /^\[\+\]conversion certificate ok: not needed: the CustomResourceDefinition has no conversion webhook$/m.test(await readyz()),
    );
    const log = service.logTail(2_000);
    assert.equal(log.match(/"msg":"conversion is off/g)?.length, 1);
    assert.doesNotMatch(log, /will try again/);
  });

  it('gets a certificate when a second version is added', async () => {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crdName}`;
    await world.cluster.request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'not-there' } });
    await world.cluster.request('PATCH', path, { spec: customResourceDefinition().spec }, 'application/merge-patch+json');
    await service.restart();
    await waitFor('the Secret', () => world.cluster.request('GET', '/api/v1/namespaces/not-there/secrets/image-watcher-conversion'));
  });
});
