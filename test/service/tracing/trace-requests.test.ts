import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordRegistryRequest, traceCluster } from '../../../src/service/tracing/trace-requests.ts';
import type { KubeClient, KubeRequest } from '../../../src/service/kube/client.ts';
import { fakeTracing } from './fake-tracing.ts';

const client: KubeClient = {
  request: <T>() => Promise.resolve(undefined as T),
  async *streamLines() {},
  close: () => Promise.resolve(),
};

for (const [path, name, namespace, object] of [
  ['/apis/apps/v1/namespaces/shop/deployments/web', 'deployments', 'shop', 'web'],
  ['/apis/operator.technomad.dev/v1/namespaces/shop/imagepolicies/web/status', 'imagepolicies/status', 'shop', 'web'],
  ['/apis/operator.technomad.dev/v1/imagepolicies', 'imagepolicies', undefined, undefined],
  ['/api/v1/namespaces/shop/pods', 'pods', 'shop', undefined],
  ['/api/v1/namespaces/shop', 'namespaces', undefined, 'shop'],
  ['/version', 'unknown', undefined, undefined],
] as const)
  test(`the span of a request to ${path} is named after ${name}`, async () => {
    const { tracing, told } = fakeTracing();
    const request: KubeRequest = { method: 'GET', path, query: { labelSelector: 'secret=value' } };
    const traced = traceCluster(client, tracing);
    await traced.request(request);
    assert.equal(told.length, 0, 'outside of a span nothing is told');
    await tracing.span({ name: 'job' }, () => traced.request(request));
    const [, span] = told;
    assert.equal(span?.name, `GET ${name}`);
    assert.deepEqual([span.attributes['k8s.namespace.name'], span.attributes['image_watcher.object']], [namespace, object]);
    assert.ok(!JSON.stringify(span).includes('secret=value'));
  });

for (const [status, failure] of [
  [200, undefined],
  [404, undefined],
  [401, undefined],
  [429, 'the registry answered 429'],
  [503, 'the registry answered 503'],
  ['error', 'there was no response'],
] as const)
  test(`a registry that answers ${status} ${failure === undefined ? 'is no failure' : 'is one'}`, async () => {
    const { tracing, told } = fakeTracing();
    const request = { host: 'r.example.com', kind: 'manifest', method: 'HEAD', status, durationMs: 5 } as const;
    await tracing.span({ name: 'job' }, () => Promise.resolve(recordRegistryRequest(request, tracing)));
    const [, span] = told;
    assert.deepEqual([span?.name, span?.failure, span?.attributes['server.address']], ['HEAD manifest', failure, 'r.example.com']);
  });
