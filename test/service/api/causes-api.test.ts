import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import { getCauses } from '../../../src/service/api/routes/causes.ts';
import type { ServiceReport } from '../../../src/service/doctor/finding.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

const headers = { host: 'localhost:9090', authorization: 'Bearer anns-token' };
const report: ServiceReport = {
  version: '1.0.0',
  checkedAt: '2026-03-01T12:00:00Z',
  findings: [{ line: 'redis/appendonly', level: 'warning', message: 'appendonly is off', action: 'turn it on' }],
  conversion: { why: 'off' },
};
const doctor = { namespaces: [], makeReport: () => Promise.resolve(report) };
const added = {
  features: [],
  routes: [],
  causes: [
    async () => [
      {
        id: 'base/x',
        kind: 'base',
        urgency: 'Warning',
        subject: 'shop/java',
        reason: 'ImagesUnknown',
        message: '',
        policies: [],
        step: 'seeBase',
      } as const,
    ],
  ],
};

async function causesFor(t: Parameters<typeof startApi>[0], auth: OperationsAuth, query = '') {
  const { app } = startApi(t, auth, [], { policies: samplePorts([]), doctor, added });
  const { statusCode, json } = await app.inject({ url: `/api/v1/causes${query}`, headers });
  const body: unknown = json();
  if (statusCode !== 200) return { status: statusCode, ids: [], body: undefined };
  const answer: z.output<typeof getCauses.answer> = getCauses.answer.parse(body);
  return { status: statusCode, ids: answer.causes.map(({ id }) => id), body: answer };
}

test('a caller who may list all policies sees the causes of policies, wings and the installation', async (t) => {
  const { ids, body } = await causesFor(t, ann('list *'));
  assert.deepEqual(ids, [
    'image/RolloutFailed/registry.example.com/shop/web:?',
    'repository/RepositoryNotFound/registry.example.com/shop/web',
    'policy/Held/shop/held',
    'base/x',
    'installation/redis/appendonly',
  ]);
  assert.deepEqual(body?.policies, { total: 11, affected: 3, namespaces: 1 });
  assert.equal(body?.installation?.checkedAt, report.checkedAt);
  assert.equal(body?.causes.at(-1)?.since, '2026-03-01T12:00:00Z', 'a finding has begun with the first report that had it');
});

test('a caller who may list one namespace sees the causes of its policies, and nothing of the installation', async (t) => {
  const { ids, body } = await causesFor(t, ann('list shop'));
  assert.deepEqual(
    ids.filter((id) => id.startsWith('installation')),
    [],
  );
  assert.deepEqual([body?.policies.total, body?.installation], [10, undefined]);
  assert.equal((await causesFor(t, ann('list shop'), '?namespace=ops')).status, 403);
});

test('one cause is read by its id, and is not found when it is over', async (t) => {
  const one = await causesFor(t, ann('list *'), `?id=${encodeURIComponent('policy/Held/shop/held')}`);
  assert.deepEqual(
    one.body?.causes.map(({ named, policies, namespaces }) => ({ named, policies, namespaces })),
    [{ named: [{ namespace: 'shop', name: 'held' }], policies: 1, namespaces: 1 }],
  );
  assert.deepEqual((await causesFor(t, ann('list *'), '?id=policy/Held/shop/nobody')).ids, []);
});

test('the cause of one policy lists only that policy, and needs the permission to get it', async (t) => {
  const one = await causesFor(t, ann('get shop'), '?policy=shop/held');
  assert.deepEqual(
    one.body?.causes.map(({ id, policies, command }) => [id, policies, command]),
    [['policy/Held/shop/held', 1, 'image-watcher release shop/held']],
  );
  assert.deepEqual((await causesFor(t, ann('get shop'), '?policy=shop/ready')).ids, []);
  assert.equal((await causesFor(t, ann('list shop'), '?policy=shop/held')).status, 403);
  assert.equal((await causesFor(t, ann('list *'), '?policy=held')).status, 400);
});
