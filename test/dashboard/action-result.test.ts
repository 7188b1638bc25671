/** What the page of a policy says of an action from which somebody returns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImagePolicy } from '../../src/core/model/image-policy.ts';
import { ActionRefused } from '../../src/service/api/ports.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { openDashboard } from './start-dashboard.ts';

const pending = { tag: '1.3.0', digest: digestOf('b') };
const waiting = (message: string) => ({
  pendingApproval: pending,
  conditions: [
    { type: 'ApprovalRequired', status: 'True', reason: 'ApprovalRequired', message, lastTransitionTime: '2026-03-01T11:00:00Z' },
  ] as const,
});
const request = 'previous 2026-03-01T11:51:00.500Z';
const workload = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web' };
const change = (trigger: 'Rollback' | 'Webhook', at: string): Pick<ImagePolicy['status'], 'history'> => ({
  history: [{ ...workload, at, trigger, tag: '1.2.0', from: 'r/web:1.3.0', to: 'r/web:1.2.0', result: 'RolledOut' }],
});
const rolledBack = (at: string) => ({ lastHandledRollback: request, ...change('Rollback', at) });

const cases: Readonly<Record<string, [action: string, policy: Partial<ImagePolicy>, says: RegExp]>> = {
  'an approval that is not answered yet': [
    'approve',
    { actions: { approve: `1.3.0@${pending.digest}` }, status: waiting('1.3.0 waits for approval') },
    /role="status">Requested: Approve/,
  ],
  'an approval after which nothing waits': ['approve', { status: {} }, /role="status">Done: Approve\./],
  'an approval of something else': [
    'approve',
    { actions: { approve: '1.2.0@sha256:x' }, status: waiting('1.3.0 waits; 1.2.0@sha256:x is approved, which does not wait') },
    /role="alert">Approve: 1\.3\.0 waits; 1\.2\.0@sha256:x is approved/,
  ],
  'a rejection that is not answered yet': ['reject', { status: waiting('1.3.0 waits for approval') }, /role="status">Requested: Reject/],
  'a rejection after which nothing waits': ['reject', { status: {} }, /role="status">Done: Reject\./],
  'a rollback that is not answered yet': ['rollback', { actions: { rollbackTo: request } }, /role="status">Requested: Roll back/],
  'a rollback that was done': [
    'rollback',
    { actions: { rollbackTo: request }, status: rolledBack('2026-03-01T11:51:00Z') },
    /role="status">Done: Roll back\./,
  ],
  'a rollback that changed nothing, after an older one': [
    'rollback',
    { actions: { rollbackTo: request }, status: rolledBack('2026-03-01T11:00:00Z') },
    /role="alert">Roll back: nothing was rolled back/,
  ],
  'a rollback that changed nothing': [
    'rollback',
    { actions: { rollbackTo: request }, status: { lastHandledRollback: request, ...change('Webhook', '2026-03-01T11:55:00Z') } },
    /role="alert">Roll back: nothing was rolled back/,
  ],
  'a rollback that changed nothing, and why': [
    'rollback',
    {
      actions: { rollbackTo: request },
      status: { lastHandledRollback: request, lastRollbackProblem: 'nothing was rolled back: all targets run 1.2.0 already' },
    },
    /role="alert">Roll back: nothing was rolled back: all targets run 1\.2\.0 already/,
  ],
  'a check that was made': ['check', { actions: { requestedAt: 'a' }, status: { lastHandledRequest: 'a' } }, /Done: Check now\./],
  'a check that is not made yet': [
    'check',
    { actions: { requestedAt: 'b' }, status: { lastHandledRequest: 'a' } },
    /Requested: Check now\./,
  ],
  'a policy that is suspended': ['suspend', { spec: specOf({ suspended: true }) }, /Done: Suspend\./],
  'a policy that is not resumed yet': ['resume', { spec: specOf({ suspended: true }) }, /Requested: Resume\./],
};

for (const [name, [action, policy, says]] of Object.entries(cases))
  test(`the page of a policy shows the result of an action: ${name}`, async (t) => {
    const found = policyOf(policy);
    const { get } = openDashboard(t, { policies: { all: () => [found], find: () => found } });
    assert.match((await get(`/policies/shop/web?done=${action}`)).text, says);
  });

test('the page of a failed action says why it failed, and offers to try it again', async (t) => {
  const found = policyOf();
  const patch = () => Promise.reject(new ActionRefused(503, 'the API server does not answer; try again'));
  const { submit } = openDashboard(t, { policies: { all: () => [found], find: () => found, patch } });
  const { status, text } = await submit('/policies/shop/web/check');
  assert.equal(status, 503);
  assert.match(
    text,
    /<h1>Check now: shop\/web<\/h1>.*role="alert">the API server does not answer.*<form method="post" action="\/policies\/shop\/web\/check"/s,
  );
});
