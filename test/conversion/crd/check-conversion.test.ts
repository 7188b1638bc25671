import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkConversion } from '../../../src/conversion/crd/check-conversion.ts';
import type { KubeClient } from '../../../src/service/kube/client.ts';
import { type Exchange, type FakeApiServer, startFakeApiServer } from '../../service/kube/fake-api-server.ts';

let server: FakeApiServer;
let client: KubeClient;
before(async () => {
  server = await startFakeApiServer();
  client = server.client();
});
after(() => server.stop());

const version = (name: string, storage: boolean) => ({ name, storage, served: true });
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [version('v1', false), version('v1alpha1', true)],
  },
} as unknown as Parameters<typeof checkConversion>[1]['crd'];

const refuse = (status: number, message: string) => (exchange: Exchange) => exchange.json(status, { message });
const unknown = refuse(404, '404 page not found');
const distrusted = refuse(500, 'conversion webhook failed: x509: certificate signed by unknown authority');

/** Answers the writes as listed, the last one for ever; lists have one object. */
function answerWrites(...answers: ((exchange: Exchange) => void)[]): void {
  server.handle((exchange) => {
    if (exchange.method === 'GET')
      return exchange.json(200, { kind: 'WidgetList', metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'one' } }] });
    (answers.length > 1 ? answers.shift() : answers[0])?.(exchange);
  });
}

function check(timeoutMs: number): Promise<number> {
  const sample = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'sample' } };
  return checkConversion(client, { crd, sample, timeoutMs, onProgress: () => undefined });
}

test('the timeout of the conversion check begins when the API server knows the version', async () => {
  answerWrites(unknown, unknown, distrusted);
  await assert.rejects(check(0), /the API server cannot convert: .*certificate/);
  answerWrites(unknown, unknown, refuse(409, 'there is one of that name'));
  assert.equal(await check(0), 1);
});

test('the conversion check is repeated while the API server does not trust the webhook', async () => {
  answerWrites(distrusted, unknown, refuse(409, 'there is one of that name'));
  assert.equal(await check(60_000), 1);
});

test('the conversion check fails if the API server never serves the version', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => (now += 20_000));
  answerWrites(unknown);
  await assert.rejects(check(0), /the API server cannot convert: .*404 page not found/);
});
