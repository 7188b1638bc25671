import assert from 'node:assert/strict';
import { test } from 'node:test';
import { versionUsesOf } from '../../../src/conversion/crd/retire-version.ts';

const apiVersion = 'example.com/v1alpha1';
const since = new Date('2026-11-14T00:00:00Z');
const entry = (fields: object) => ({ manager: 'kubectl', operation: 'Update', apiVersion, time: '2026-11-20T00:00:00Z', ...fields });
const manifest = (content: string) => ({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': content } });

const cases: [name: string, metadata: object, expected: string[]][] = [
  ['an object that nobody has written', {}, []],
  ['a recent write', { managedFields: [entry({})] }, ['kubectl wrote it through that version at 2026-11-20T00:00:00Z']],
  [
    'a write at the first moment that counts',
    { managedFields: [entry({ time: '2026-11-14T00:00:00Z' })] },
    ['kubectl wrote it through that version at 2026-11-14T00:00:00Z'],
  ],
  ['an old write', { managedFields: [entry({ time: '2026-11-13T23:59:59Z' })] }, []],
  ['a write through another version', { managedFields: [entry({ apiVersion: 'example.com/v1' })] }, []],
  [
    'an old server-side apply',
    { managedFields: [entry({ operation: 'Apply', time: '2020-01-01T00:00:00Z', manager: 'flux' })] },
    ['flux applies it server-side in that version'],
  ],
  ['a manifest in that version', manifest('{"apiVersion":"example.com/v1alpha1"}'), ['its manifest was applied in that version']],
  ['a manifest in another version', manifest('{"apiVersion":"example.com/v1"}'), []],
  ['nonsense in the place of the manifest', manifest('nonsense'), []],
  ['null in the place of the manifest', manifest('null'), []],
];

for (const [name, metadata, expected] of cases) {
  test(`${name} ${expected.length === 0 ? 'does not count' : 'counts'} as a use of the version to retire`, () =>
    assert.deepEqual(versionUsesOf({ metadata: { namespace: 'a', name: 'b', ...metadata } }, { apiVersion, since }), expected));
}
