/** To which namespace commands take the token of their caller where he names none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findServiceNamespace } from '../../src/service/command-line/service-pod.ts';
import { KubeError } from '../../src/service/kube/kube-error.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/imagepolicies.operator.technomad.dev';
const find = (answer: () => Promise<unknown>) => {
  const request = (call: { readonly path: string }) => {
    assert.equal(call.path, path);
    return answer();
  };
  return findServiceNamespace({ request: request as never }, new AbortController().signal);
};
const service = { namespace: 'platform', name: 'image-watcher-conversion' };

test('commands find the namespace of the service in the definition of policies, which only administrators write', async () => {
  assert.equal(
    await find(async () => ({ spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { service } } } } })),
    'platform',
  );
});

test('commands use the default namespace if the definition does not name one or the caller may not read it', async () => {
  for (const conversion of [undefined, { strategy: 'None' }, { webhook: { clientConfig: { url: 'https://image-watcher.platform.svc' } } }])
    assert.equal(await find(async () => ({ spec: { conversion } })), 'image-watcher');
  for (const status of [403, 404]) assert.equal(await find(() => Promise.reject(new KubeError('GET', status, {}))), 'image-watcher');
});

test('commands that look for the namespace of the service fail if the API server fails', async () => {
  await assert.rejects(
    find(() => Promise.reject(new Error('connection refused'))),
    /connection refused/,
  );
});
