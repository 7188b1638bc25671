/** `status.running`: what the targets run, as one word. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerState } from '../../../src/core/model/policy-status.ts';
import { digestOf, webDeployment } from '../model/samples.ts';
import { container, image, statusAfter, unchangedOutcome, updatedOutcome, upToDate } from './outcomes.ts';

for (const [running, ...images] of [
  ['1.3.0', '1.3.0', '1.3.0'],
  ['1.3.0,+2', '1.2.0', '1.3.0', '1.3.0', '1.1.0'],
  ['1.2.0,+1', '1.2.0', '1.3.0'],
  [digestOf('a').slice(0, 19), `@${digestOf('a')}`],
  ['1.3.0', `1.3.0@${digestOf('a')}`],
  ['latest', ''],
  ['<none>', '!'],
  ['<none>'],
] as const) {
  test(`what runs is shown as the word ${running} for the images ${images.join(', ')}`, () => {
    const containers = images.map((tag, index): ContainerState => {
      const name = tag === '' || tag.startsWith('@') ? `${image}${tag}` : `${image}:${tag}`;
      return { ...webDeployment, container: `c${index}`, image: name, state: 'Kept' };
    });
    const missing: ContainerState = { ...webDeployment, state: 'Problem', message: 'no such container' };
    const selection = { candidate: { tag: '1.3.0' }, containers: [...containers, missing] };
    const before = { running: '1.0.0' };
    assert.equal(statusAfter(before, { ...unchangedOutcome, selection })?.running, running);
  });
}

test('a change to an image that the policy does not select shows what runs from then on', () => {
  const other: ContainerState = { ...upToDate, container: 'sidecar' };
  const before = {
    running: '1.3.0',
    targets: [upToDate, other],
    targetCounts: { total: 2, upToDate: 2, problems: 0 },
  };
  const { selection: _, ...rolledBack } = updatedOutcome;
  const [change] = rolledBack.changes ?? [];
  assert.ok(change);
  const status = statusAfter(before, { ...rolledBack, changes: [{ ...change, from: `${image}:1.3.0`, to: `${image}:1.0.0` }] });
  assert.equal(status?.running, '1.0.0,+1');
  assert.deepEqual(status?.targetCounts, { total: 2, upToDate: 1, problems: 0 });
  const message = `changed from ${image}:1.3.0 to ${image}:1.0.0`;
  assert.deepEqual(status?.targets, [{ ...container, image: `${image}:1.0.0`, state: 'Kept', message }, other]);
});
