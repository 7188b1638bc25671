import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatLastUpdate, heldUpdate, ownUpdate, parseLastUpdate, withUpdates, type LastUpdate } from '../../src/core/last-update.ts';
import type { WorkloadContainer } from '../../src/core/workload.ts';
import { after, changedAt, image, rolloutOf } from './rollout-samples.ts';
import { digestOf } from './samples.ts';

const update: LastUpdate = { policy: 'uid', at: changedAt, trigger: 'Webhook', from: `${image}:1.2.3`, to: `${image}:1.3.0` };
const [a, b] = [digestOf('a'), digestOf('b')];

test('what is written is what is read', () => {
  const name = fc.stringMatching(/^[a-z0-9./:@-]{1,512}$/);
  const digest = fc.option(fc.constantFrom(a, b), { nil: undefined });
  const updates = fc
    .record({ from: name, to: name, digest, trigger: fc.constantFrom('Webhook', 'Rollback', 'Poll') })
    .map(({ digest, ...found }): LastUpdate => ({ ...update, ...found, ...(digest !== undefined && { digest }) }));
  fc.assert(fc.property(updates, (found) => assert.deepEqual(parseLastUpdate(formatLastUpdate(found)), found)));
});

test('anything else is nothing, and never an error', () => {
  const bad: unknown[] = [
    undefined,
    7,
    '',
    'null',
    '[]',
    '{',
    '{}',
    { ...update, policy: '' },
    { ...update, at: 'yesterday' },
    { ...update, at: '+275760-09-13T00:00:00Z' },
    { ...update, at: '2026-02-30T25:00:00Z' },
    { ...update, trigger: 'toString' },
    { ...update, from: 'x'.repeat(513) },
    { ...update, to: undefined },
  ];
  for (const value of bad) assert.equal(parseLastUpdate(typeof value === 'object' ? JSON.stringify(value) : value), undefined);
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (value) => assert.doesNotThrow(() => parseLastUpdate(value))));
});

const rows: [name: string, container: Partial<WorkloadContainer>, holds: boolean][] = [
  ['that was asked for', {}, true],
  ['with the digest that admission added', { image: `${image}:1.3.0@${b}` }, true],
  ['of another tag', { image: `${image}:1.4.0` }, false],
  ['that somebody else wrote', { imageOwner: 'kubectl' }, false],
  ['of another digest under the same tag', { image: `${image}:latest@${a}`, lastUpdate: { ...update, to: `${image}:latest@${b}` } }, false],
  ['of the same digest', { image: `${image}:latest@${b}`, lastUpdate: { ...update, to: `${image}:latest@${b}` } }, true],
  ['while the annotation names another image to go back to', { lastUpdate: { ...update, from: 'evil.example.com/web:1.2.3' } }, false],
  ['while the annotation names nothing that can be read', { lastUpdate: { ...update, from: '::' } }, false],
];

for (const [name, container, holds] of rows) {
  test(`an image ${name}: ${holds ? 'holds' : 'does not hold'}`, () => {
    const found = heldUpdate({ name: 'web', image: `${image}:1.3.0`, imageOwner: 'image-watcher', lastUpdate: update, ...container });
    assert.equal(found !== undefined, holds);
  });
}

test('what another policy did is not ours', () => {
  const container = { name: 'web', image: `${image}:1.3.0`, imageOwner: 'image-watcher', lastUpdate: update };
  assert.deepEqual([ownUpdate(container, 'uid'), ownUpdate(container, 'other')], [update, undefined]);
});

test('remembered is what rolls out, and is of a length that fits', () => {
  const change = { container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` };
  const details = { policy: 'uid', trigger: 'Webhook', at: after(0), digest: undefined } as const;
  const rollout = rolloutOf();
  assert.deepEqual(withUpdates({ rollout }, [change], details)[0]?.update, update);
  assert.deepEqual(withUpdates({}, [change], details), [change]);
  const field = { ...change, fields: [{ path: 'spec.tag', from: '1', to: '2' }] };
  const long = { ...change, from: `${image}:${'x'.repeat(600)}` };
  assert.deepEqual(withUpdates({ rollout }, [field, long], details), [field, long]);
});
