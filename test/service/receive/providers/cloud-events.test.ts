import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCloudEvents } from '../../../../src/service/receive/providers/cloud-events.ts';
import { MalformedBody } from '../../../../src/service/receive/providers/provider.ts';

const attributes = { id: '7', source: '/hub', type: 'hub.pushed', subject: 'a/b:1', time: '2026-03-01T12:00:00Z' };
const data = { tag: '1' };
const event = { ...attributes, data };

const read = (document: unknown, headers: Record<string, string> = {}) =>
  readCloudEvents({ headers, body: Buffer.from(JSON.stringify(document)) });

test('CloudEvents: reads a structured event', () => {
  for (const type of ['application/cloudevents+json; charset=utf-8', 'application/json', 'text/plain']) {
    assert.deepEqual(read({ specversion: '1.0', ...event, more: 1 }, { 'content-type': type }), [event]);
  }
});

test('CloudEvents: reads a structured event with data in base64', () => {
  const encode = (text: string) => Buffer.from(text).toString('base64');
  assert.deepEqual(read({ specversion: '1.0', ...attributes, data_base64: encode(JSON.stringify(data)) }), [event]);
  assert.deepEqual(read({ specversion: '1.0', ...attributes, data_base64: encode('{') }), [{ ...attributes, data: undefined }]);
});

test('CloudEvents: reads a binary event', () => {
  const headers = {
    'content-type': 'application/json',
    'ce-specversion': '1.0',
    ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])),
  };
  assert.deepEqual(read(data, headers), [event]);
  assert.equal(read(data, { ...headers, 'ce-subject': 'Euro%20%E2%82%AC' })[0]?.subject, 'Euro €');
  assert.equal(read(data, { ...headers, 'ce-subject': '100%' })[0]?.subject, '100%');
  assert.throws(() => readCloudEvents({ headers, body: Buffer.from('{') }), MalformedBody);
  // The content type decides when a relay has copied the attributes to headers.
  assert.deepEqual(read({ specversion: '1.0', ...event }, { ...headers, 'ce-type': 'x', 'content-type': 'application/cloudevents+json' }), [
    event,
  ]);
});

test('CloudEvents: reads a batch', () => {
  const structuredEvent = { specversion: '1.0', ...event };
  assert.deepEqual(read([structuredEvent, 7, { ...structuredEvent, id: '8' }]), [event, undefined, { ...event, id: '8' }]);
});

test('CloudEvents: malformed attributes are omitted', () => {
  assert.deepEqual(read({ specversion: '1.0', type: 'x', id: 7, source: null, subject: [], time: {} }), [{ type: 'x', data: undefined }]);
});

test('CloudEvents: a body without a CloudEvent is malformed', () => {
  for (const document of [7, null, [], {}, [{}], { type: 'x' }, { specversion: '1.0' }, { specversion: 1, type: 'x' }]) {
    assert.throws(() => read(document), MalformedBody);
  }
  assert.throws(() => read({}, { 'ce-type': 'x' }), MalformedBody);
});
