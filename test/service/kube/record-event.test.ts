import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildEvent, cutToBytes } from '../../../src/service/kube/record-event.ts';

const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', uid: 'u' };
const record = { regarding, type: 'Normal', reason: 'Updated', action: 'UpdateImage', message: 'web: 1 → 2' } as const;
const at = new Date('2026-01-02T03:04:05.678Z');
const source = { component: 'image-watcher', instance: 'pod-1', id: 'abc', at, count: 1, lastAt: at };

test('an Event is built for events.k8s.io/v1', () => {
  assert.deepEqual(buildEvent(record, source), {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: 'shop', name: 'web.abc' },
    eventTime: '2026-01-02T03:04:05.678000Z',
    regarding,
    type: 'Normal',
    reason: 'Updated',
    action: 'UpdateImage',
    note: 'web: 1 → 2',
    reportingController: 'image-watcher',
    reportingInstance: 'pod-1',
  });
});

test('Events that were combined into one have a count', () => {
  const { series } = buildEvent(record, { ...source, count: 3, lastAt: new Date('2026-01-02T03:04:06Z') });
  assert.deepEqual(series, { count: 3, lastObservedTime: '2026-01-02T03:04:06.000000Z' });
});

test('Events of cluster-scoped objects are written to the namespace default', () => {
  const { metadata } = buildEvent({ ...record, regarding: { ...regarding, namespace: '' } }, source);
  assert.deepEqual(metadata, { namespace: 'default', name: 'web.abc' });
});

const cuts = [
  { name: 'fits exactly', text: 'abcdef', bytes: 6, expected: 'abcdef' },
  { name: 'is too long', text: 'abcdefg', bytes: 6, expected: 'abc…' },
  { name: 'is never cut inside a character', text: 'aößäü', bytes: 6, expected: 'aö…' },
  { name: 'is never cut inside a surrogate pair', text: '😀😀😀', bytes: 9, expected: '😀…' },
];

for (const { name, text, bytes, expected } of cuts) {
  test(`a text that ${name} is recorded as far as it fits`, () => assert.equal(cutToBytes(text, bytes), expected));
}
