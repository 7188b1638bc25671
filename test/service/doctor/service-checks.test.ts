/** What the service checks, facts → findings: a row for each line and level. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clock } from '../../../src/service/doctor/checks/clock.ts';
import { notifications } from '../../../src/service/doctor/checks/notifications.ts';
import { policies, type PolicySummary } from '../../../src/service/doctor/checks/policies.ts';
import { proxies } from '../../../src/service/doctor/checks/proxies.ts';
import { record, type RecordFacts } from '../../../src/service/doctor/checks/record.ts';
import { redis, type RedisFacts } from '../../../src/service/doctor/checks/redis.ts';
import { registries, type RegistryProbe } from '../../../src/service/doctor/checks/registries.ts';
import { webhooks, type WebhookFacts } from '../../../src/service/doctor/checks/webhooks.ts';
import type { Level } from '../../../src/service/doctor/finding.ts';
import { assertLine, evaluate, testAllSeen } from './evaluate.ts';

const hourMs = 3_600_000;
const now = Date.parse('2026-05-01T12:00:00Z');

const healthy = {
  info: {
    redis_version: '8.0.1',
    role: 'master',
    aof_enabled: '1',
    aof_last_write_status: 'ok',
    rdb_last_bgsave_status: 'ok',
    maxmemory: '1048576000',
    used_memory: '1048576',
    maxmemory_policy: 'noeviction',
    connected_slaves: '0',
  } as Record<string, string>,
  settings: { appendfsync: 'always', save: '' } as Record<string, string> | undefined,
  durability: 'warn',
  minReplicas: 0,
  trimFrom: 0.7,
  refuseFrom: 0.8,
} as const;
const withInfo = (info: Record<string, string>, more: Partial<Extract<RedisFacts, { info: unknown }>> = {}): RedisFacts => ({
  ...healthy,
  ...more,
  info: { ...healthy.info, ...info },
});
const oneReplica = (lag: number) => ({ connected_slaves: '1', slave0: `ip=10.0.0.1,port=6379,state=online,offset=1,lag=${lag}` });

describe('the check of the record', () => {
  const kept = { waiting: 3, oldestMs: 30_000, problem: undefined, intervalMs: 60_000, most: 50_000 };
  for (const [what, facts, level, message] of [
    ['is written in time', kept, 'ok', /is written/],
    ['has nothing to write', { ...kept, waiting: 0, oldestMs: undefined }, 'ok', /is written/],
    ['is refused', { ...kept, problem: 'no space left' }, 'warning', /no space left; 3 entries wait, the oldest for 30 s/],
    ['is late', { ...kept, oldestMs: hourMs }, 'warning', /not written; 3 entries wait/],
    ['is slow on purpose', { ...kept, oldestMs: hourMs, intervalMs: hourMs }, 'ok', /is written/],
  ] satisfies [string, RecordFacts, Level, RegExp][])
    test(`reports ${level} if the record ${what}`, () => assertLine(evaluate(record, facts), 'record/written', level, message));

  test('reports nothing if no record is configured', () => assert.deepEqual(record.evaluate(undefined), []));
});

describe('the check of Redis', () => {
  test('reports only ok for a healthy Redis', () =>
    assert.deepEqual([...new Set(evaluate(redis, healthy).map(({ level }) => level))], ['ok']));

  for (const [facts, line, level, message] of [
    [{ why: 'ECONNREFUSED' }, 'redis/answers', 'failed', /ECONNREFUSED/],
    [withInfo({ role: 'slave' }), 'redis/answers', 'failed', /replica/],
    [withInfo({ loading: '1' }), 'redis/answers', 'failed', /loading/],
    [withInfo({ aof_enabled: '0' }, { settings: { save: '3600 1' } }), 'redis/appendonly', 'failed', /off.*save 3600 1/],
    [withInfo({ aof_enabled: '0' }, { durability: 'ignore' }), 'redis/appendonly', 'warning', /off/],
    [{ ...healthy, info: {} }, 'redis/appendonly', 'skipped', /does not say/],
    [{ ...healthy, info: {}, settings: undefined }, 'redis/maxmemory-policy', 'skipped', /does not say/],
    [{ ...healthy, info: {} }, 'redis/persistence', 'skipped', /does not say/],
    [{ ...healthy, info: {} }, 'redis/replicas', 'skipped', /does not say/],
    [{ ...healthy, settings: undefined }, 'redis/appendfsync', 'skipped', /forbids CONFIG/],
    [{ ...healthy, settings: {} }, 'redis/appendfsync', 'skipped', /does not say/],
    [{ ...healthy, settings: { appendfsync: 'everysec' } }, 'redis/appendfsync', 'warning', /a second/],
    [{ ...healthy, settings: { appendfsync: 'no' } }, 'redis/appendfsync', 'failed', /half a minute/],
    [withInfo({ maxmemory_policy: 'allkeys-lru', evicted_keys: '7' }), 'redis/maxmemory-policy', 'failed', /allkeys-lru.*dropped 7/],
    [withInfo({ maxmemory: '0' }), 'redis/memory', 'warning', /not set \(1 MiB/],
    [withInfo({ used_memory: '900000000' }), 'redis/memory', 'failed', /86 %.*503/],
    [withInfo({ used_memory: '780000000' }), 'redis/memory', 'warning', /74 %/],
    [withInfo({ aof_last_write_status: 'err' }), 'redis/persistence', 'failed', /AOF/],
    [withInfo({}, { minReplicas: 1 }), 'redis/replicas', 'failed', /0 replicas.*minReplicas is 1/],
    [withInfo(oneReplica(0), { minReplicas: 1 }), 'redis/replicas', 'ok', /1 replica is/],
    [withInfo(oneReplica(60)), 'redis/replicas', 'warning', /1 of 1 replicas lag/],
  ] satisfies [RedisFacts, string, Level, RegExp][])
    test(`reports ${line} as ${level} with the message "${message.source}"`, () =>
      assertLine(evaluate(redis, facts), line, level, message));
});

test('the check of clocks reports a skew only beyond the tolerance of its measurement', () => {
  const at = (aheadMs: number, toleranceMs = 0) => ({ line: 'redis', name: 'Redis', aheadMs, toleranceMs }) as const;
  const of = (...clocks: Parameters<typeof clock.evaluate>[0]['clocks']) => evaluate(clock, { own: 'the worker', clocks });
  assertLine(of(at(500)), 'clock/redis', 'ok', /agree/);
  assertLine(of(at(-30_000)), 'clock/redis', 'warning', /30 s behind that of the worker/);
  assertLine(of(at(hourMs * 3)), 'clock/redis', 'failed', /3 h ahead/);
  assertLine(of(at(-70_000, 65_000)), 'clock/redis', 'ok', /agree/);
  assertLine(of({ line: 'api-server', name: 'the API server', why: 'no Date' }), 'clock/api-server', 'skipped', /no Date/);
  of({ ...at(0), line: 'registry' }, { ...at(0), line: 'local' });
});

describe('the check of webhooks', () => {
  const facts = (lastByStatus: [number, number][], more: Partial<WebhookFacts> = {}): WebhookFacts => ({
    now,
    receivers: [{ name: 'hub', provider: 'harbor', lastByStatus: new Map(lastByStatus) }],
    registries: [],
    ...more,
  });
  const registry = { host: 'ghcr.io', policies: 2, lastPush: undefined, unannounced: 0 };
  for (const [given, line, level, message] of [
    [facts([]), 'webhooks/received', 'warning', /nothing has arrived/],
    [
      facts([
        [202, now - 3 * hourMs],
        [401, now - 5 * hourMs],
      ]),
      'webhooks/received',
      'ok',
      /accepted 3 h ago, 401 5 h ago/,
    ],
    [
      facts([
        [202, now - 3 * hourMs],
        [401, now - 120_000],
      ]),
      'webhooks/received',
      'warning',
      /2 min ago, was refused as not authentic \(401\); the last push was accepted 3 h/,
    ],
    [facts([[200, now - hourMs * 2]]), 'webhooks/received', 'warning', /answered 200\), but no push was ever accepted/],
    [{ ...facts([]), receivers: [] }, 'webhooks/receivers', 'warning', /polls only/],
    [facts([]), 'webhooks/receivers', 'ok', /1 receiver /],
    [facts([], { registries: [registry] }), 'webhooks/announced', 'warning', /2 policies.*only polled/],
    [facts([], { registries: [{ ...registry, unannounced: 3 }] }), 'webhooks/announced', 'warning', /polls found 3 images/],
    [facts([], { registries: [{ ...registry, lastPush: now - 120_000 }] }), 'webhooks/announced', 'ok', /2 min ago/],
  ] satisfies [WebhookFacts, string, Level, RegExp][])
    test(`reports ${line} as ${level} with the message "${message.source}"`, () =>
      assertLine(evaluate(webhooks, given), line, level, message));
});

describe('the check of proxies', () => {
  const none = { routes: [], notListed: 0, isOnlyHttp: false };
  const line = 'proxies/route';

  test('has a line for each proxy, and for each reason to use none', () => {
    const proxy = 'http://proxy.example.com:3128 (HTTPS_PROXY)';
    const routes = [
      { host: 'docker.io', proxy },
      { host: 'registry.tools.svc', why: 'NO_PROXY has .svc' },
      { host: 'ghcr.io', proxy },
    ];
    assert.deepEqual(
      evaluate(proxies, { ...none, routes, notListed: 7 }).map(({ level, message }) => `${level} ${message}`),
      [
        `ok through the proxy ${proxy}: docker.io, ghcr.io`,
        'ok directly (NO_PROXY has .svc): registry.tools.svc',
        'ok 7 more hosts are not listed',
      ],
    );
    assertLine(evaluate(proxies, none), line, 'ok', /^no registries are known/);
  });

  test('warns about HTTP_PROXY without HTTPS_PROXY', () =>
    assertLine(evaluate(proxies, { ...none, isOnlyHttp: true }), 'proxies/https', 'warning', /^HTTP_PROXY is set and HTTPS_PROXY is not/));
});

test('a notification target that does not accept messages is reported, with what to do', () => {
  const line = 'notifications/accepted';
  const find = (...targets: Parameters<typeof notifications.evaluate>[0]['targets']) => evaluate(notifications, { now, targets });
  assert.deepEqual(find(), []);
  assertLine(find({ name: 'ops' }), line, 'ok', /^the target accepts/);
  assertLine(find({ name: 'ops' }, { name: 'shop/chat' }), line, 'ok', /^all 2/);
  const why = 'POST to https://hooks.slack.com was answered 404';
  const own = find({ name: 'ops', why, at: now - 120_000 }, { name: 'calls' });
  assertLine(own, line, 'warning', /^ops: POST to .* \(2 min ago\)$/);
  assert.match(own[0]?.action ?? '', /notify test ops$/);
  assert.equal(own.length, 1);
  const [team] = find({ name: 'shop/chat', why: 'SecretNotUsable: the Secret slack is missing' });
  assert.match(team?.action ?? '', /describe notificationtarget -n shop chat$/);
  const many = find(...Array.from({ length: 60 }, (_, index) => ({ name: `t${index}`, why })));
  assert.equal(many.length, 51);
  assertLine(many.slice(50), line, 'warning', /^10 more/);
});

describe('the check of registries', () => {
  const probe = (answer: RegistryProbe['answer']) =>
    evaluate(registries, { probes: [{ host: 'ghcr.io', repository: 'ghcr.io/a/b', policy: 'shop/web', answer }], notAsked: 0 });
  const line = 'registries/reachable';
  test('names where the credentials come from', () => {
    assertLine(probe({ kind: 'read', credentials: 'Secret shop/pull' }), line, 'ok', /with Secret shop\/pull/);
    assertLine(probe({ kind: 'read', credentials: 'anonymous' }), line, 'ok', /read anonymously/);
  });
  test('reports a registry that does not answer, refuses or lacks the repository', () => {
    assertLine(probe({ kind: 'unknown', credentials: 'anonymous' }), line, 'warning', /does not know ghcr.io\/a\/b/);
    assertLine(probe({ kind: 'failed', why: 'ECONNREFUSED' }), line, 'failed', /ECONNREFUSED/);
    assertLine(probe({ kind: 'postponed', why: '429' }), line, 'warning', /429/);
    assertLine(probe({ kind: 'late' }), line, 'failed', /not answered in time/);
  });
  test('reports what was not asked', () => {
    assertLine(evaluate(registries, { probes: [], notAsked: 0 }), line, 'skipped', /no policy/);
    assertLine(evaluate(registries, { probes: [], notAsked: 3 }), 'registries/not-asked', 'skipped', /^3 more/);
  });
});

describe('the check of policies', () => {
  const policy = (more: Partial<PolicySummary> = {}): PolicySummary => ({
    key: 'shop/web',
    isReady: true,
    reason: 'UpToDate',
    message: '',
    isObserved: true,
    createdAt: now - hourMs,
    ...more,
  });
  const missing = policy({ isReady: false, reason: 'TargetNotFound', message: 'Deployment shop/web does not exist' });
  const of = (...all: PolicySummary[]) => evaluate(policies, { now, policies: all });
  test('lists policies that can never match', () => {
    assertLine(of(policy()), 'policies/matching', 'ok', /can match/);
    assertLine(of(policy(), missing), 'policies/matching', 'failed', /shop\/web: TargetNotFound: Deployment shop\/web does not exist/);
    assertLine(of(), 'policies/matching', 'warning', /no policies/);
  });
  test('does not list a policy that waits or failed a rollout', () => {
    for (const reason of ['Retrying', 'Progressing', 'RolloutFailed', 'ApprovalRequired'])
      assertLine(of(policy({ isReady: false, reason })), 'policies/matching', 'ok', /can match/);
  });
  test('lists some of thousands of policies and counts the others', () => {
    const findings = of(...Array.from({ length: 1_000 }, () => missing));
    assert.equal(findings.filter(({ line }) => line === 'policies/matching').length, 51);
    assertLine(findings, 'policies/matching', 'failed', /^950 more/);
  });
  test('reports policies that nobody evaluates, unless they are new', () => {
    const fresh = policy({ isReady: false, isObserved: false, reason: undefined, message: undefined });
    assertLine(of(fresh), 'policies/reconciled', 'failed', /1 policy was never evaluated, shop\/web for 60 min/);
    assertLine(of({ ...fresh, createdAt: now }), 'policies/reconciled', 'ok', /evaluate/);
  });
});

test('a check of a policy that the configuration does not allow is reported', () => {
  const find = (count: number) => {
    const refusedChecks = Array.from({ length: count }, (_, index) => ({
      policy: 'shop/web',
      check: `c${index}`,
      why: 'its host is not allowed',
    }));
    return evaluate(policies, { now, policies: [], refusedChecks }).filter(({ line }) => line === 'policies/checks');
  };
  assert.deepEqual(find(0), []);
  assertLine(find(1), 'policies/checks', 'warning', /^shop\/web: the check c0 would time out: its host is not allowed$/);
  assert.equal(find(60).length, 51);
  assertLine(find(60).slice(50), 'policies/checks', 'warning', /^10 more checks/);
});

test('a policy that can never follow another is reported with the reason, and one that may still change as a warning', () => {
  const find = (count: number, isUncertain = false) => {
    const one = { policy: 'shop/production', followed: 'shop/staging', why: 'it pins tags', isUncertain };
    return evaluate(policies, { now, policies: [], unprovable: Array.from({ length: count }, () => one) }).filter(
      ({ line }) => line === 'policies/following',
    );
  };
  assert.deepEqual(find(0), []);
  assertLine(
    find(1),
    'policies/following',
    'failed',
    /^shop\/production follows shop\/staging, and can never change anything: it pins tags$/,
  );
  assertLine(find(1, true), 'policies/following', 'warning', /can never change anything/);
  assert.equal(find(60).length, 51);
  assertLine(find(60).slice(50), 'policies/following', 'warning', /^10 more followed policies/);
});

test('a policy whose waves should begin with canaries, and that has none, is reported', () => {
  const find = (count: number) =>
    evaluate(policies, {
      now,
      policies: [],
      withoutCanaries: Array.from({ length: count }, () => ({ policy: 'shop/web', workloads: 3 })),
    }).filter(({ line }) => line === 'policies/canaries');
  assert.deepEqual(find(0), []);
  assertLine(find(1), 'policies/canaries', 'warning', /^shop\/web: rollout\.waves\.canaries selects none of its 3 workloads/);
  assertLine(find(60).slice(50), 'policies/canaries', 'warning', /^10 more policies have no canary$/);
});

testAllSeen(redis, record, clock, webhooks, proxies, notifications, registries, policies);
