import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { policyCauses } from './causes-of.ts';
import { policyOf, specOf } from '../../core/model/samples.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

function condition(type: string, reason: string, minutesAgo: number, message = `${reason}!`): Condition {
  const lastTransitionTime = new Date(now - minutesAgo * 60_000).toISOString().replace('.000Z', 'Z');
  return { type, status: 'True', reason, message, lastTransitionTime };
}

const at = (registry: string, path = 'shop/web') => specOf({ repository: { registry, path } });
const policy = (key: string, status: PolicyStatus, spec = at('ghcr.io')) => {
  const [namespace = '', name = ''] = key.split('/');
  return policyOf({ namespace, name, uid: key, spec, status });
};
const short = (policies: readonly Parameters<typeof policy>[]) =>
  policyCauses(
    policies.map((one) => policy(...one)),
    now,
  ).map(({ id, urgency, policies: reached, since = '' }) => `${id} ${urgency} ${reached.length} ${since.slice(11, 16)}`);

test('a registry that does not answer is one cause, which counts as blocked when the outage lasts', () => {
  const down = (minutes: number) => ({ conditions: [condition('Reconciling', 'RegistryUnavailable', minutes)] });
  assert.deepEqual(
    short([
      ['shop/a', down(2)],
      ['shop/b', down(26)],
      ['ops/c', down(1)],
      ['ops/d', down(3), at('quay.io')],
    ]),
    ['registry/RegistryUnavailable/ghcr.io Blocked 3 11:34', 'registry/RegistryUnavailable/quay.io Passing 1 11:57'],
  );
});

test('an image that failed is one cause for all its policies, and counts as broken while it still runs anywhere', () => {
  const failed = (rolledBack: number, running: number): PolicyStatus => ({
    conditions: [condition('Stalled', running > 0 ? 'RolloutFailed' : 'RejectedDigest', 5)],
    rollouts: { progressing: 0, done: 0, failed: running, rolledBack },
    history: [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        container: 'web',
        to: 'ghcr.io/shop/web:4.11.1',
        tag: '4.11.1',
        trigger: 'Webhook',
        at: '2026-03-01T11:50:00Z',
        result: running > 0 ? 'Failed' : 'RolledBack',
      },
    ],
  });
  const causes = policyCauses([policy('shop/web', failed(2, 0)), policy('eu/web', failed(0, 1))], now);
  assert.equal(causes.length, 1);
  const [{ id, urgency, rollouts, step, command } = assert.fail()] = causes;
  assert.deepEqual(
    [id, urgency, rollouts, step, command],
    ['image/RolloutFailed/ghcr.io/shop/web:4.11.1', 'Broken', { rolledBack: 2, running: 1 }, 'rollBack', 'image-watcher rollback eu/web'],
  );
  const [back] = policyCauses([policy('shop/web', failed(2, 0))], now);
  assert.deepEqual([back?.urgency, back?.step], ['Blocked', 'pushBetter']);
});

test('a policy that proceeds, waits as configured, or is suspended has no cause', () => {
  const states: readonly Parameters<typeof policy>[] = [
    ['shop/new', {}],
    ['shop/ready', { conditions: [condition('Ready', 'UpToDate', 5)] }],
    ['shop/rolling', { conditions: [condition('Reconciling', 'Progressing', 5)] }],
    ['shop/window', { conditions: [condition('Reconciling', 'Window', 500)] }],
    ['shop/approval', { conditions: [condition('ApprovalRequired', 'ApprovalRequired', 500)] }],
    ['shop/off', { conditions: [condition('Stalled', 'InvalidPolicy', 5)] }, specOf({ suspended: true })],
  ];
  assert.deepEqual(short(states), []);
});

test('a stalled policy has a cause even if no rule knows its reason', () => {
  assert.deepEqual(short([['shop/odd', { conditions: [condition('Stalled', 'SomethingNew', 5)] }]]), [
    'policy/SomethingNew/shop/odd Blocked 1 11:55',
  ]);
});

test('policies that wait for the operator are one cause', () => {
  const denied = { conditions: [condition('Stalled', 'TargetKindForbidden', 5)] };
  assert.deepEqual(
    short([
      ['shop/a', denied],
      ['ops/b', denied],
    ]),
    ['installation/TargetKindForbidden Blocked 2 11:55'],
  );
});

test('the cause of a refused image names that image, and not the one that was selected before', () => {
  const status: PolicyStatus = {
    conditions: [condition('Stalled', 'NotSigned', 5)],
    latest: { tag: '4.11.0', selectedAt: '2026-03-01T10:00:00Z' },
    refused: { tag: '4.11.1' },
  };
  assert.deepEqual(short([['shop/web', status]]), ['image/NotSigned/ghcr.io/shop/web:4.11.1 Blocked 1 11:55']);
});
