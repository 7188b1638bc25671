import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessKey, type ImageSource, type PullAccess } from '../../../src/core/model/image-source.ts';
import { createDuePolls } from '../../../src/service/poll/poll-schedule.ts';
import { policyOf, specOf, web } from '../../core/model/samples.ts';

const hour = 3_600_000;
const access = (secret: string): PullAccess => ({ secrets: [{ namespace: 'ops', name: secret, namedBy: 'policy' }] });
const policies = [
  policyOf({ name: 'a' }),
  policyOf({ name: 'b' }),
  policyOf({ name: 'c', spec: specOf({ pollIntervalMs: 60_000 }) }),
  policyOf({ name: 'd', spec: specOf({ repository: { ...web, path: 'shop/api' } }) }),
  policyOf({ name: 'e', spec: { problem: { reason: 'InvalidPolicy', message: '' } } }),
  policyOf({ name: 'f', namespace: 'ops' }),
  policyOf({ name: 'g', spec: specOf({ suspended: true }) }),
];

test('policies with the same repository, access and interval share a poll, and suspended or invalid ones have none', () => {
  const duePolls = createDuePolls(({ namespace }, { repository }) =>
    namespace === 'ops' ? { ...repository, access: access('creds') } : repository,
  );
  assert.deepEqual(
    duePolls(policies, 0, hour).map(({ repository, intervalMs }) => [repository.path, intervalMs, accessKey(repository)]),
    [
      ['shop/web', hour, ''],
      ['shop/web', 60_000, ''],
      ['shop/api', hour, ''],
      ['shop/web', hour, 'ops/creds'],
    ],
  );
});

test('each poll is due once, however many intervals have passed, and never when no time has', () => {
  const duePolls = createDuePolls((_, { repository }) => repository);
  assert.equal(duePolls(policies, 0, 24 * hour).length, 3);
  assert.equal(duePolls(policies, 24 * hour, 24 * hour).length, 0);
});

test('a change of access does not skip a poll, and access is resolved only for due polls', () => {
  const asked: string[] = [];
  let source: ImageSource = web;
  const duePolls = createDuePolls(({ name }) => {
    asked.push(name);
    return source;
  });
  const [policy = policyOf()] = policies;
  const found: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    source = { ...web, access: access(`creds-${minute}`) };
    found.push(...duePolls([policy], minute * 60_000, (minute + 1) * 60_000).map(({ repository }) => accessKey(repository)));
  }
  assert.deepEqual([found.length, asked], [1, ['a']]);
});
