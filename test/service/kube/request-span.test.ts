import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTraces } from '../../harness/traces.ts';
import { startFakeApiServer } from './fake-api-server.ts';

for (const [path, name, namespace, object] of [
  ['/apis/apps/v1/namespaces/shop/deployments/web', 'deployments', 'shop', 'web'],
  ['/apis/operator.technomad.dev/v1/namespaces/shop/imagepolicies/web/status', 'imagepolicies/status', 'shop', 'web'],
  ['/apis/operator.technomad.dev/v1/imagepolicies', 'imagepolicies', undefined, undefined],
  ['/api/v1/namespaces/shop/pods', 'pods', 'shop', undefined],
  ['/api/v1/namespaces/shop', 'namespaces', undefined, 'shop'],
  ['/version', 'unknown', undefined, undefined],
] as const)
  test(`within a span, the span of a request to ${path} is named after ${name}`, async (t) => {
    const server = await startFakeApiServer();
    t.after(() => server.stop());
    const { tracing, finish } = await openTraces(t);
    const client = server.client();
    const request = { method: 'GET', path, query: { labelSelector: 'secret=value' } } as const;
    await client.request(request);
    await tracing.span({ name: 'job' }, () => client.request(request));
    const [span, job, ...others] = await finish();
    assert.deepEqual(others, []);
    assert.deepEqual([span?.name, span?.kind, span?.parentId], [`GET ${name}`, 'client', job?.spanId]);
    assert.deepEqual([span?.attributes['k8s.namespace.name'], span?.attributes['image_watcher.object']], [namespace, object]);
    assert.ok(!JSON.stringify(span).includes('secret=value'));
  });

test('a refused request to the API server is a failed span', async (t) => {
  const server = await startFakeApiServer();
  t.after(() => server.stop());
  server.handle((exchange) => exchange.json(403, { kind: 'Status', message: 'forbidden' }));
  const { tracing, finish } = await openTraces(t);
  const request = { method: 'GET', path: '/api/v1/namespaces/shop/pods' } as const;
  await tracing.span({ name: 'job' }, () => assert.rejects(server.client().request(request)));
  const [span, job] = await finish();
  assert.match(String(span?.failure), /forbidden/);
  assert.equal(job?.failure, undefined);
});
