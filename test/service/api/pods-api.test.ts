/** The route of the pods of rollouts: of which workloads, and for whom. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessError } from '../../../src/service/api/access.ts';
import { podLimits, unfinishedWorkloads } from '../../../src/service/api/pod-view.ts';
import { getPods } from '../../../src/service/api/routes/pods.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { policyOf } from '../../core/model/samples.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

const change = (name: string, result: HistoryEntry['result']): HistoryEntry => ({
  kind: 'Deployment',
  namespace: 'shop',
  name,
  container: 'web',
  to: 'registry.example.com/shop/web:2',
  tag: '2',
  trigger: 'Webhook',
  at: '2026-03-01T11:00:00Z',
  result,
});
const policyWith = (...history: HistoryEntry[]) => policyOf({ name: 'web', status: { history } });

test('pods are read for the workloads whose newest change has not rolled out, up to a limit', () => {
  const namesOf = (...history: HistoryEntry[]) => unfinishedWorkloads(policyWith(...history)).map(({ name }) => name);
  assert.deepEqual(namesOf(change('a', 'Applied'), change('b', 'RolledOut'), change('b', 'Failed'), change('c', 'Failed')), ['a', 'c']);
  assert.deepEqual(namesOf(change('a', 'RolledBack'), change('a', 'Failed')), []);
  const many = Array.from({ length: 20 }, (_, index) => change(`w${index}`, 'Failed'));
  assert.equal(namesOf(...many).length, podLimits.workloads);
});

test('the pods of each workload are read for the caller, and a workload that cannot be read shows why', async (t) => {
  const policy = policyWith(change('a', 'Failed'), change('b', 'Failed'));
  const readPods = (caller: { kind: string }, { name }: { name: string }) =>
    name === 'b'
      ? Promise.reject(new AccessError(403, 'pods is forbidden'))
      : Promise.resolve([{ name: `${name} for a ${caller.kind}`, startedAt: '2026-03-01T11:00:00Z', containers: [] }]);
  const { app } = startApi(t, ann('get shop'), [], { policies: samplePorts([], { find: () => policy, readPods }) });
  const ask = async (namespace: string) => {
    const headers = { host: 'localhost', authorization: 'Bearer anns-token' };
    return app.inject({ url: `/api/v1/policies/${namespace}/web/pods`, headers });
  };
  const workload = (name: string) => ({ kind: 'Deployment', namespace: 'shop', name });
  assert.deepEqual(getPods.answer.parse((await ask('shop')).json()), {
    workloads: [
      { ...workload('a'), pods: [{ name: 'a for a token', startedAt: '2026-03-01T11:00:00Z', containers: [] }] },
      { ...workload('b'), pods: [], problem: 'pods is forbidden' },
    ],
  });
  assert.equal((await ask('ops')).statusCode, 403);
});
