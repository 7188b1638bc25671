import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessKey, type PullAccess } from '../../src/core/image-source.ts';
import { duePolls, pollGroups, type PollGroup } from '../../src/poll/due-polls.ts';
import { policyOf, specOf, web } from '../core/samples.ts';

const hour = 3_600_000;
const group = fc.record({
  repository: fc.record({ registry: fc.constantFrom('docker.io', 'ghcr.io'), path: fc.stringMatching(/^[a-z]{1,8}$/) }),
  intervalMs: fc.constantFrom(60_000, 300_000, hour),
});

test('policies that share repository, access and interval share the poll; those that cannot be understood have none', () => {
  const policies = [
    policyOf({ name: 'a' }),
    policyOf({ name: 'b' }),
    policyOf({ name: 'c', spec: specOf({ pollIntervalMs: 60_000 }) }),
    policyOf({ name: 'd', spec: specOf({ repository: { ...web, path: 'shop/api' } }) }),
    policyOf({ name: 'e', spec: { problem: { reason: 'InvalidPolicy', message: '' } } }),
    policyOf({ name: 'f', namespace: 'ops' }),
  ];
  const access = (secret: string): PullAccess => ({ secrets: [{ namespace: 'ops', name: secret, namedBy: 'policy' }] });
  const groups = pollGroups(policies, ({ namespace }, { repository }) =>
    namespace === 'ops' ? { ...repository, access: access('creds') } : repository,
  );
  assert.deepEqual(
    groups.map(({ repository, intervalMs }) => [repository.path, intervalMs, accessKey(repository)]),
    [
      ['shop/web', hour, ''],
      ['shop/web', 60_000, ''],
      ['shop/api', hour, ''],
      ['shop/web', hour, 'ops/creds'],
    ],
  );
});

test('exactly once in every interval, however the ticks fall', () => {
  const start = fc.integer({ min: 0, max: 2_000_000_000_000 });
  fc.assert(
    fc.property(group, start, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 }), (group, start, parts) => {
      const end = start + group.intervalMs;
      const ticks = [start, ...parts.map((part) => Math.floor(start + part * group.intervalMs)).sort((a, b) => a - b), end];
      let turns = 0;
      for (const [index, to] of ticks.entries()) turns += duePolls([group], ticks[index - 1] ?? start, to).length;
      assert.equal(turns, 1);
    }),
    { numRuns: 500 },
  );
});

test('a tick that is done twice, or comes late, makes one poll of each', () => {
  const groups: PollGroup[] = [{ repository: web, intervalMs: 60_000 }];
  assert.equal(duePolls(groups, 0, 24 * hour).length, 1);
  assert.equal(duePolls(groups, 24 * hour, 24 * hour).length, 0);
});

test('polls are spread over the interval', () => {
  const groups = Array.from({ length: 1_000 }, (_, index) => ({ repository: { ...web, path: `shop/web-${index}` }, intervalMs: hour }));
  const tenths = Array.from({ length: 10 }, (_, tenth) => duePolls(groups, (tenth * hour) / 10, ((tenth + 1) * hour) / 10).length);
  assert.equal(
    tenths.reduce((sum, count) => sum + count),
    1_000,
  );
  for (const count of tenths) assert.ok(count > 50 && count < 200, tenths.join(' '));
});

test('every replica comes to the same turns', () => {
  const groups = Array.from({ length: 100 }, (_, index) => ({ repository: { ...web, path: `shop/web-${index}` }, intervalMs: hour }));
  const names = (due: readonly PollGroup[]) => new Set(due.map(({ repository }) => repository.path));
  assert.deepEqual(names(duePolls(groups, 0, 600_000)), names(duePolls(structuredClone(groups).toReversed(), 0, 600_000)));
});
