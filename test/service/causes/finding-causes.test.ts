import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cause, orderCauses, withoutRepeated } from '../../../src/service/causes/cause.ts';
import { findingCauses } from '../../../src/service/causes/finding-causes.ts';
import { createRecentReport } from '../../../src/service/causes/recent-report.ts';
import { createDateFound } from '../../../src/service/causes/found-since.ts';
import type { Finding, ServiceReport } from '../../../src/service/doctor/finding.ts';

const findings: readonly Finding[] = [
  { line: 'redis/appendonly', level: 'warning', message: 'off', action: 'turn it on' },
  { line: 'redis/answers', level: 'ok', message: 'answers' },
  { line: 'registries/reachable', level: 'failed', subject: 'ghcr.io', message: 'ghcr.io: refused' },
  { line: 'webhooks/received', level: 'warning', subject: 'harbor', message: 'harbor: refused as not authentic (401)' },
  { line: 'policies/matching', level: 'failed', message: 'shop/web: InvalidPolicy' },
  { line: 'notifications/accepted', level: 'warning', subject: 'ops', message: 'ops: was answered 404' },
  { line: 'clock/redis', level: 'skipped', message: 'not known' },
];
const ids = (causes: readonly Cause[]) => causes.map(({ id, urgency }) => `${id} ${urgency}`);

test('a finding of the doctor that needs action is a cause, unless policies or notification targets report it themselves', () => {
  assert.deepEqual(ids(findingCauses(findings)), [
    'installation/redis/appendonly Warning',
    'registry/registries/reachable/ghcr.io Blocked',
    'receiver/webhooks/received/harbor Warning',
  ]);
});

test('a registry reported by policies and by the doctor is one cause, and causes are ordered by urgency, then by reach', () => {
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

test('a cause that blocks the installation comes before one that blocks policies, and one that only warns comes last', () => {
  const [full, off, ...rest] = findingCauses([
    { line: 'redis/memory', level: 'failed', message: '98 %' },
    { line: 'redis/appendonly', level: 'failed', message: 'off' },
  ]);
  assert.ok(full !== undefined && off !== undefined && rest.length === 0);
  const policies = [{ namespace: 'shop', name: 'web' }];
  const stuck: Cause = { ...full, id: 'stuck', kind: 'image', reason: 'NotSigned', policies };
  assert.deepEqual(ids(orderCauses([off, stuck, full])), [
    'installation/redis/memory Blocked',
    'stuck Blocked',
    'installation/redis/appendonly Warning',
  ]);
});

test('a failed base is one cause for what was rolled back from it, and another for what still runs it', () => {
  const make = (id: string, more: Partial<Cause>): Cause => ({
    id,
    kind: 'image',
    urgency: 'Blocked',
    subject: '',
    reason: 'RejectedDigest',
    message: '',
    policies: [{ namespace: 'shop', name: 'java-1', parent: 'java' }],
    step: 'pushBetter',
    ...more,
  });
  const base = make('base', { kind: 'base', reason: 'BaseRejected', subject: 'shop/java' });
  const all = [
    base,
    make('rolledBack', {}),
    make('stillRuns', { urgency: 'Broken' }),
    make('own', { policies: [{ namespace: 'shop', name: 'web' }] }),
    make('otherBase', { policies: [{ namespace: 'eu', name: 'java-1', parent: 'java' }] }),
  ];
  assert.deepEqual(
    withoutRepeated(all).map(({ id }) => id),
    ['base', 'stillRuns', 'own', 'otherBase'],
  );
});

test('a recent report is answered without waiting, and an outdated one is renewed first, unless that takes long', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let [at, made] = [0, 0];
  const state = { hangs: undefined as Promise<void> | undefined };
  const report = createRecentReport(
    async () => {
      made++;
      await state.hangs;
      return {
        report: { version: '', checkedAt: String(made), findings: [], conversion: { why: '' } } satisfies ServiceReport,
        since: new Map(),
      };
    },
    { elapsed: () => at, onChange: () => undefined, signal: t.signal },
  );
  const checkedAt = async () => (await report())?.report.checkedAt;
  assert.equal(await checkedAt(), '1');
  at = 14_999;
  assert.equal(await checkedAt(), '1');
  assert.equal(made, 1);
  const first = Promise.withResolvers<void>();
  state.hangs = first.promise;
  at = 15_000;
  assert.equal(await checkedAt(), '1', 'a recent report is answered while the next one is made');
  assert.equal(await checkedAt(), '1');
  assert.equal(made, 2);
  first.resolve();
  await new Promise(setImmediate);
  const second = Promise.withResolvers<void>();
  state.hangs = second.promise;
  at = 75_000;
  const asked = checkedAt();
  second.resolve();
  assert.equal(await asked, '3', 'an outdated report is not answered if the next one is there in time');
  state.hangs = Promise.withResolvers<void>().promise;
  at = 135_000;
  const late = checkedAt();
  t.mock.timers.tick(1_500);
  assert.equal(await late, '3', 'nobody waits for long');
});

test('a report that is asked for too early is made when it is due, and new causes are announced to readers', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let [at, made, announced] = [0, 0, 0];
  let found: readonly Finding[] = [];
  const makeReport = async () => {
    made++;
    return { report: { version: '', checkedAt: '', findings: found, conversion: { why: '' } } satisfies ServiceReport, since: new Map() };
  };
  const report = createRecentReport(makeReport, { elapsed: () => at, onChange: () => void announced++, signal: t.signal });
  const pass = async (milliseconds: number) => {
    at += milliseconds;
    t.mock.timers.tick(milliseconds);
    await new Promise(setImmediate);
  };
  await report();
  await pass(5_000);
  await report();
  await report();
  await pass(9_999);
  assert.equal(made, 1);
  found = findings;
  await pass(1);
  assert.deepEqual([made, announced], [2, 1]);
  await pass(60_000);
  assert.equal(made, 2, 'nobody has asked since');
  await report();
  await pass(0);
  assert.deepEqual([made, announced], [3, 1], 'the same causes are not announced again');
});

test('a finding began with the first report of any process that had it, and of this process while Redis is away', async () => {
  let at = '2026-03-01T12:00:00Z';
  let shared: ReadonlyMap<string, number> | undefined = new Map([['old', Date.parse('2026-03-01T09:00:00Z')]]);
  const date = createDateFound(
    async (found) => {
      if (shared === undefined) throw new Error('away');
      const known = shared;
      return new Map([...found].map(([id, since]) => [id, known.get(id) ?? since]));
    },
    () => new Date(at),
  );
  const before = { old: '2026-03-01T09:00:00Z', new: '2026-03-01T12:00:00Z' };
  assert.deepEqual(Object.fromEntries(await date(['old', 'new'])), before);
  shared = undefined;
  at = '2026-03-01T13:00:00Z';
  assert.deepEqual(Object.fromEntries(await date(['old', 'new', 'redis'])), { ...before, redis: at });
  const causes = findingCauses(findings, new Map([['installation/redis/appendonly', at]]));
  assert.deepEqual(
    causes.map(({ since }) => since),
    [at, undefined, undefined],
  );
});
