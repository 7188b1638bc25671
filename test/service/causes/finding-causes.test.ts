import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cause, orderCauses } from '../../../src/service/causes/cause.ts';
import { findingCauses, withoutRepeated } from '../../../src/service/causes/finding-causes.ts';
import { createRecentReport } from '../../../src/service/causes/recent-report.ts';
import type { Finding, ServiceReport } from '../../../src/service/doctor/finding.ts';

const findings: readonly Finding[] = [
  { line: 'redis/appendonly', level: 'warning', message: 'off', action: 'turn it on' },
  { line: 'redis/answers', level: 'ok', message: 'answers' },
  { line: 'registries/reachable', level: 'failed', subject: 'ghcr.io', message: 'ghcr.io: refused' },
  { line: 'webhooks/received', level: 'warning', subject: 'harbor', message: 'harbor: refused as not authentic (401)' },
  { line: 'policies/matching', level: 'failed', message: 'shop/web: InvalidPolicy' },
  { line: 'clock/redis', level: 'skipped', message: 'not known' },
];
const ids = (causes: readonly Cause[]) => causes.map(({ id, urgency }) => `${id} ${urgency}`);

test('a finding that asks for somebody is a cause, except for what policies say themselves', () => {
  assert.deepEqual(ids(findingCauses(findings)), [
    'installation/redis/appendonly Warning',
    'registry/registries/reachable/ghcr.io Blocked',
    'receiver/webhooks/received/harbor Warning',
  ]);
});

test('a registry that policies report is one cause, the most urgent comes first, and then what reaches most', () => {
  const causeOf = (id: string, urgency: Cause['urgency'], reached: number, subject = ''): Cause => ({
    id,
    kind: 'registry',
    urgency,
    subject,
    reason: 'RegistryUnavailable',
    message: '',
    policies: Array.from({ length: reached }, (_, index) => ({ namespace: 'shop', name: `${id}-${index}` })),
    step: 'wait',
  });
  const all = [
    causeOf('few', 'Blocked', 1),
    causeOf('many', 'Blocked', 8, 'ghcr.io'),
    causeOf('later', 'Passing', 90),
    causeOf('now', 'Broken', 1),
  ];
  assert.deepEqual(
    orderCauses(withoutRepeated([...all, ...findingCauses(findings)])).map(({ id }) => id),
    ['now', 'many', 'few', 'installation/redis/appendonly', 'receiver/webhooks/received/harbor', 'later'],
  );
});

test('nobody waits for a report while there is an older one, and none is made within a minute', async () => {
  let [at, made] = [0, 0];
  const state = { hangs: undefined as Promise<void> | undefined };
  const report = createRecentReport(
    async () => {
      made++;
      await state.hangs;
      return { version: '', checkedAt: String(made), findings: [], conversion: { why: '' } } satisfies ServiceReport;
    },
    () => at,
  );
  assert.equal((await report())?.checkedAt, '1');
  at = 59_999;
  assert.equal((await report())?.checkedAt, '1');
  assert.equal(made, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hangs = promise;
  at = 60_000;
  assert.equal((await report())?.checkedAt, '1');
  assert.equal((await report())?.checkedAt, '1');
  assert.equal(made, 2);
  resolve();
  await new Promise(setImmediate);
  assert.equal((await report())?.checkedAt, '2');
});
