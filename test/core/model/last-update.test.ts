import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { heldUpdate, lastUpdateOf, ownUpdate, recentChanges, withUpdates, type LastUpdate } from '../../../src/core/model/last-update.ts';
import { formatLastUpdate, parseLastUpdate, updateAnnotation } from '../../../src/core/model/last-update-annotation.ts';
import type { WorkloadContainer } from '../../../src/core/model/workload.ts';
import { afterChange, changedAt, image, rolloutOf } from '../rollout/rollout-samples.ts';
import { digestOf, workloadOf } from './samples.ts';

const update: LastUpdate = { policy: 'uid', at: changedAt, trigger: 'Webhook', from: `${image}:1.2.3`, to: `${image}:1.3.0` };
const [a, b] = [digestOf('a'), digestOf('b')];

test('a record of the last update is read back as it was written', () => {
  const name = fc.stringMatching(/^[a-z0-9./:@-]{1,512}$/);
  const digest = fc.option(fc.constantFrom(a, b), { nil: undefined });
  const updates = fc
    .record({ from: name, to: name, digest, failed: digest, trigger: fc.constantFrom('Webhook', 'Rollback', 'Poll') })
    .map(({ digest, failed, ...found }): LastUpdate => ({
      ...update,
      ...found,
      ...(digest !== undefined && { digest }),
      ...(failed !== undefined && { failed }),
    }));
  fc.assert(fc.property(updates, (found) => assert.deepEqual(parseLastUpdate(formatLastUpdate(found)), found)));
});

test('an annotation that is no record of an update is read as absent, never as an error', () => {
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
  ['that admission named by its digest alone', { image: `${image}@${a}`, lastUpdate: { ...update, digest: a } }, true],
  ['of another digest, without a tag', { image: `${image}@${b}`, lastUpdate: { ...update, digest: a } }, false],
  ['at another host of the registry', { image: `mirror.example.com/${image.split('/').slice(1).join('/')}:1.3.0` }, true],
  ['of another repository', { image: `${image}-other:1.3.0` }, false],
  ['while the annotation names another image to go back to', { lastUpdate: { ...update, from: 'evil.example.com/web:1.2.3' } }, false],
  ['while the annotation names nothing that can be read', { lastUpdate: { ...update, from: '::' } }, false],
];

for (const [name, container, holds] of rows) {
  test(`the last update ${holds ? 'holds' : 'does not hold'} for an image ${name}`, () => {
    const found = heldUpdate({ name: 'web', image: `${image}:1.3.0`, imageOwner: 'image-watcher', lastUpdate: update, ...container });
    assert.equal(found !== undefined, holds);
  });
}

test("a change that another policy made is not taken for the policy's own", () => {
  const container = { name: 'web', image: `${image}:1.3.0`, imageOwner: 'image-watcher', lastUpdate: update };
  assert.deepEqual([ownUpdate(container, 'uid'), ownUpdate(container, 'other')], [update, undefined]);
});

const change = { container: 'web', index: 0, from: `${image}:1.2.3`, to: `${image}:1.3.0` };
const details = { policy: 'uid', trigger: 'Webhook', at: afterChange(0), digest: undefined } as const;
const running = (lastUpdate?: LastUpdate) => workloadOf({ web: { image: `${image}:1.2.3`, ...(lastUpdate && { lastUpdate }) } });

test('a change is recorded on the workload unless its names are too long, whether the workload has a rollout or not', () => {
  const long = { ...change, from: `${image}:${'x'.repeat(600)}` };
  for (const workload of [running(), { ...running(), rollout: rolloutOf() }]) {
    assert.deepEqual(withUpdates(workload, [change], details)[0]?.update, update);
    assert.deepEqual(withUpdates(workload, [long], details), [long]);
  }
});

test('the record of a field that holds only a digest also contains the tag', () => {
  const digests = { ...change, from: `${image}@${a}`, to: `${image}@${b}` };
  const tagOf = (one: typeof change) => withUpdates(running(), [one], { ...details, tag: 'main', digest: b })[0]?.update?.tag;
  assert.deepEqual([tagOf(digests), tagOf(change)], ['main', undefined]);
});

/** What the container remembers after these changes, each some seconds after the first. */
function remembersAfter(changes: readonly (readonly [tag: string, seconds: number, policy?: string])[]): LastUpdate | undefined {
  let workload = running();
  for (const [tag, seconds, policy = 'uid'] of changes) {
    const to = `${image}:${tag}`;
    const [made] = withUpdates(workload, [{ ...change, to }], { ...details, policy, at: afterChange(seconds), digest: b });
    // As the API server keeps it.
    workload = running(made?.update && parseLastUpdate(formatLastUpdate(made.update)));
  }
  return lastUpdateOf(workload, 'web');
}

const countsAt = (found: LastUpdate | undefined, seconds: number) =>
  Object.fromEntries(recentChanges(found, afterChange(seconds)).map(({ tag, at }) => [tag, at.length]));

test('the next change of a container keeps the changes of other policies for an hour', () => {
  const found = remembersAfter([
    ['1.3.0', 0, 'one'],
    ['1.2.3', 10, 'two'],
    ['1.3.0', 20, 'one'],
    ['1.2.3', 30, 'two'],
  ]);
  assert.equal(found?.policy, 'two');
  assert.deepEqual(countsAt(found, 40), { '1.2.3': 2, '1.3.0': 2 });
  assert.deepEqual(countsAt(found, 3_615), { '1.2.3': 1, '1.3.0': 1 });
  assert.deepEqual(countsAt(found, 3_630), {});
  assert.equal(
    remembersAfter([
      ['1.3.0', 0],
      ['1.4.0', 3_600],
    ])?.earlier,
    undefined,
  );
});

test('a loop of changes is not forgotten because of new images, however many arrive', () => {
  const releases = Array.from({ length: 60 }, (_, index) => [`2.0.${index}`, 100 + index] as const);
  const found = remembersAfter([...[0, 10, 20, 30, 40].map((seconds) => ['1.3.0', seconds] as const), ...releases]);
  assert.equal(countsAt(found, 200)['1.3.0'], 5);
});

test('the record of changes stays bounded, even if somebody forged a long one', () => {
  const times = fc.array(
    fc.integer({ min: 0, max: 3_599 }).map((seconds) => afterChange(seconds).toISOString().replace('.000Z', 'Z')),
    {
      minLength: 1,
      maxLength: 40,
    },
  );
  const changes = fc.array(
    fc.record({ tag: fc.stringMatching(/^[\w.-]{1,128}$/), digest: fc.constant(`sha512:${'b'.repeat(128)}`), at: times }),
    {
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(changes, (earlier) => {
      const forged = parseLastUpdate(JSON.stringify({ ...update, earlier }));
      const [made] = withUpdates(running(forged), [change], { ...details, at: afterChange(3_600) });
      const text = made?.update ? formatLastUpdate(made.update) : '';
      assert.ok(text.length < 6_000, `${text.length}`);
      assert.deepEqual(parseLastUpdate(text), made?.update);
    }),
  );
});

test('an annotation that is longer than any record of an update is not parsed', () => {
  const written = JSON.stringify(update);
  assert.ok(parseLastUpdate(`${written}${' '.repeat(1_000)}`));
  assert.equal(parseLastUpdate(`${written}${' '.repeat(32_768)}`), undefined);
});

test('only readable times of the last hour count in a forged record of changes', () => {
  const written = (earlier: unknown) => parseLastUpdate(JSON.stringify({ ...update, earlier }));
  const at = [changedAt];
  for (const odd of [7, {}, 'x', [], [null, 7, 'x', [], {}], [{ tag: '', at }], [{ tag: '1', at: [] }], [{ tag: '1', at: ['soon', 7] }]])
    assert.deepEqual(written(odd), update);
  const ahead = written([
    { tag: '1.3.0', at: ['9999-12-31T23:59:59Z', '2026-03-01T12:06:00Z', '2026-03-01T12:04:00Z', '2026-03-01T11:00:00Z'] },
  ]);
  assert.deepEqual(recentChanges(ahead, afterChange(0)), [{ tag: '1.3.0', at: [changedAt, '2026-03-01T12:04:00Z'] }]);
});

test('the annotation for a container or a field always has a name that the API server accepts', () => {
  const nameOf = (container: string) => updateAnnotation(container)?.replace('last-update.operator.technomad.dev/', '');
  assert.deepEqual(['web', 'spec.parameters[0].value', '…values.image_tag', '_', ''].map(nameOf), [
    'web',
    'spec.parameters.0..value',
    'values.image_tag',
    undefined,
    undefined,
  ]);
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Za-z0-9_.[\]…-]{1,63}$/), (label) =>
      assert.match(nameOf(label) ?? 'none', /^(?=.{1,63}$)([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/),
    ),
  );
});
