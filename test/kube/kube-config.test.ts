import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';

test('only the kubeconfig part of client-node is loaded', async () => {
  const loaded: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      const [, file] = url.split('/@kubernetes/client-node/dist/');
      if (file !== undefined) loaded.push(file);
      return next(url, context);
    },
  });
  const { KubeConfig } = await import('../../src/kube/kube-config.ts');
  hooks.deregister();
  assert.ok(loaded.includes('config.js'));
  assert.deepEqual(
    loaded.filter((file) => file.startsWith('gen/') && file !== 'gen/rxjsStub.js'),
    [],
  );
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: true }, { name: 'u', token: 't' });
  assert.equal(config.getCurrentCluster()?.server, 'https://127.0.0.1:1');
  assert.throws(() => config.makeApiClient(Date), /is not loaded/);
});
