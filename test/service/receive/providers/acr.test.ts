import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acr } from '../../../../src/service/receive/providers/acr.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: acr, credentials: ['authorization'] });

const digest = `sha256:${'a'.repeat(64)}`;
const mediaType = 'application/vnd.oci.image.index.v1+json';
const change = {
  id: 'change-1',
  timestamp: '2026-03-01T12:00:00.123456789Z',
  action: 'push',
  target: { mediaType, size: 1, digest, repository: 'team/api', tag: '1.2.3' },
  request: { id: '1', host: 'acme.azurecr.io', method: 'PUT' },
};
const topic = '/subscriptions/1/resourceGroups/g/providers/Microsoft.ContainerRegistry/registries/acmedata';
const type = 'Microsoft.ContainerRegistry.ImagePushed';
const gridEvent = { id: 'event-1', topic, subject: 'team/api:1.2.3', eventType: type, eventTime: '2026-03-01T12:00:01Z', data: change };
const cloudEvent = { specversion: '1.0', id: 'event-1', source: topic, type, time: '2026-03-01T12:00:01Z', data: change };
const push = { registry: 'acme.azurecr.io', repository: 'team/api', tag: '1.2.3', digest, mediaType };
const gridPush = { ...push, idempotencyKey: `${topic} event-1`, pushedAt: '2026-03-01T12:00:01Z' };

const parse = (body: unknown, headers: Record<string, string> = {}) => acr.parse({ headers, body: Buffer.from(JSON.stringify(body)) });
const reasonsOf = (body: unknown) => {
  const { pushes, ignored } = parse(body);
  assert.deepEqual(pushes, []);
  return ignored.map(({ reason }) => reason);
};

test('acr: reads a webhook', () => {
  assert.deepEqual(parse(change).pushes, [{ ...push, idempotencyKey: 'change-1', pushedAt: change.timestamp }]);
});

for (const [name, body, headers] of [
  ['Event Grid schema, single', gridEvent, {}],
  ['Event Grid schema, array', [gridEvent], {}],
  ['CloudEvents, single', cloudEvent, { 'content-type': 'application/cloudevents+json; charset=utf-8' }],
  ['CloudEvents, array', [cloudEvent], { 'content-type': 'application/json' }],
  ['CloudEvents, batch', [cloudEvent], { 'content-type': 'application/cloudevents-batch+json' }],
  [
    'CloudEvents, binary',
    change,
    { 'ce-specversion': '1.0', 'ce-id': 'event-1', 'ce-source': topic, 'ce-type': type, 'ce-time': cloudEvent.time },
  ],
] satisfies [string, unknown, Record<string, string>][]) {
  test(`acr: an event is read in the form "${name}"`, () => assert.deepEqual(parse(body, headers), { pushes: [gridPush], ignored: [] }));
}

test('acr: reads each event of a batch by itself, whatever its schema', () => {
  const { pushes, ignored } = parse([
    gridEvent,
    7,
    { ...gridEvent, eventType: 'Microsoft.ContainerRegistry.ImageDeleted', data: { ...change, action: 'delete' } },
    { ...cloudEvent, id: 'event-2', data: { ...change, target: { ...change.target, tag: '1.2.4' } } },
  ]);
  assert.deepEqual(
    pushes.map(({ tag, idempotencyKey }) => [tag, idempotencyKey]),
    [
      ['1.2.3', `${topic} event-1`],
      ['1.2.4', `${topic} event-2`],
    ],
  );
  assert.deepEqual(
    ignored.map(({ reason }) => reason),
    ['the event has an unexpected structure', 'not a push: Microsoft.ContainerRegistry.ImageDeleted'],
  );
  assert.deepEqual(reasonsOf([]), ['no events']);
});

test('acr: the registry is the host of the request, else the name of the registry', () => {
  const { request: _, ...bare } = change;
  assert.equal(parse({ ...gridEvent, data: bare }).pushes[0]?.registry, 'acmedata.azurecr.io');
  assert.equal(parse({ ...gridEvent, topic: '/registries/a.b', data: bare }).pushes[0]?.registry, undefined);
  assert.equal(parse(bare).pushes[0]?.registry, undefined);
});

test('acr: a push without a tag has none, and missing outer id and time are taken from the inner ones', () => {
  for (const tag of [undefined, null, '', 7]) {
    const [claimed] = parse({ ...change, target: { ...change.target, tag } }).pushes;
    assert.ok(claimed && !('tag' in claimed));
  }
  const [claimed] = parse({ ...gridEvent, id: null, eventTime: 7 }).pushes;
  assert.deepEqual([claimed?.idempotencyKey, claimed?.pushedAt], [`${topic} change-1`, change.timestamp]);
});

test('acr: other events are not pushes', () => {
  for (const action of ['delete', 'chart_push', 'chart_delete', 'quarantine', 'ping']) {
    assert.deepEqual(reasonsOf({ ...change, action }), [`not a push: ${action}`]);
  }
  assert.deepEqual(reasonsOf({ ...gridEvent, eventType: 'Microsoft.ContainerRegistry.ChartPushed' }), [
    'not a push: Microsoft.ContainerRegistry.ChartPushed',
  ]);
  assert.deepEqual(reasonsOf({ ...gridEvent, data: { ...change, action: 'delete' } }), ['not a push: delete']);
  assert.deepEqual(reasonsOf({ ...change, target: null }), ['the event names no repository']);
  assert.deepEqual(reasonsOf({ ...gridEvent, data: 'x' }), ['the event names no repository']);
});

const validation = {
  ...gridEvent,
  eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
  data: { validationCode: '512d38b6', validationUrl: 'https://rp-eastus2.eventgrid.azure.net:553/validate' },
};

test('acr: a validation request is answered with its code, alone or in an array', () => {
  for (const body of [validation, [validation]]) {
    assert.deepEqual(parse(body, { 'aeg-event-type': 'SubscriptionValidation' }).handshake, { validationResponse: '512d38b6' });
  }
  for (const data of [{}, null, { validationCode: '' }, { validationCode: { a: 1 } }, { validationCode: 'x'.repeat(2_000) }]) {
    assert.throws(() => parse([{ ...validation, data }]), MalformedBody);
  }
});

test('acr: a validation request does not suppress pushes', () => {
  const { pushes, handshake, ignored } = parse([validation, gridEvent]);
  assert.deepEqual([pushes.length, handshake, ignored.length], [1, undefined, 1]);
});

test('acr: a body of another format is malformed, and does not crash the provider', () => {
  for (const body of [{}, 7, { action: 7 }, { eventType: 7 }, { specversion: '1.0' }]) assert.throws(() => parse(body), MalformedBody);
});
