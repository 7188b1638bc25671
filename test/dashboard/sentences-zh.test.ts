/** What the service explains in English is known in Chinese. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceInChinese } from '../../src/dashboard/texts/sentences-zh.ts';
import { planNow, type Pushed } from '../../src/service/explain/plan-now.ts';
import { explainPlanned } from '../../src/service/explain/steps.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import type { PolicySpec } from '../../src/core/model/image-policy.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { digestOf, noAliases, policyOf, specOf, workloadOf } from '../core/model/samples.ts';
import { viewOf } from '../core/rollout/rollout-samples.ts';
import { exampleOptions } from './example.ts';
import { openDashboard } from './start-dashboard.ts';

const image = 'registry.example.com/shop/web';
const latest = { tag: '1.3.0', digest: digestOf('b'), selectedAt: '2026-03-01T12:00:00Z' };
const main = { tag: 'main', digest: digestOf('b'), selectedAt: '2026-03-01T12:00:00Z' };
const rollout = { timeoutMs: 600_000, onFailure: 'Rollback' } as const;
const waves = { maxParallel: 2, pauseMs: 600_000, maxFailures: 1 };

interface Given {
  readonly spec?: Partial<PolicySpec>;
  readonly status?: PolicyStatus;
  readonly runs?: string;
  readonly push?: string;
}

const rows: readonly (readonly [name: string, given: Given])[] = [
  ['the highest version', {}],
  ['a range', { spec: { strategy: strategies.semver({ range: '>=1' }) } }],
  ['a range with prereleases', { spec: { strategy: strategies.semver({ range: '>=1', prereleases: true }) } }],
  ['prereleases', { spec: { strategy: strategies.semver({ prereleases: true }) } }],
  [
    'a version that is far from the running one',
    { spec: { strategy: strategies.semver({ range: '>=1' }) }, status: { latest: { ...latest, tag: '2021.12.16' } } },
  ],
  ['what runs already', { runs: '1.3.0' }],
  ['the last tag', { spec: { strategy: strategies.alphabetical() }, status: { latest: main } }],
  ['the greatest number', { spec: { strategy: strategies.numerical() }, status: { latest: { ...latest, tag: '4' } }, runs: '3' }],
  ['a digest', { spec: { strategy: strategies.digest({ tag: 'main' }), pin: 'Digest' }, status: { latest: main }, runs: 'main' }],
  ['another tag', { spec: { strategy: strategies.replace({ from: '1.2.3', to: 'main' }) }, status: { latest: main } }],
  ['rollouts that are watched', { spec: { rollout } }],
  ['waves', { spec: { rollout: { ...rollout, waves } } }],
  ['a spec that was just changed', { status: { latest, observedGeneration: 0 } }],
  ['a push', { push: '1.4.0' }],
  ['a push that waits', { push: '1.4.0', spec: { minAgeMs: 3_600_000 } }],
  ['a push of what runs', { push: '1.3.0', runs: '1.3.0', status: {} }],
  [
    'a push of which only the registry knows',
    { spec: { strategy: strategies.digest({ tag: 'main' }), pin: 'Digest' }, status: {}, runs: `main@${digestOf('a')}`, push: 'main' },
  ],
];

async function explain({ spec = {}, status = { latest }, runs = '1.2.3', push }: Given) {
  const view = {
    ...viewOf(workloadOf({ web: `${image}:${runs}` })),
    aliases: noAliases,
    targetState: () => ({ since: 0 }),
    repeatsPerHour: 5,
    now: () => Date.parse('2026-03-01T12:01:00Z'),
  };
  const repository = { registry: 'registry.example.com', path: 'shop/web' };
  const pushed: Pushed | undefined = push === undefined ? undefined : { name: image, repository, tag: push };
  return explainPlanned(await planNow({ policy: policyOf({ spec: specOf(spec), status }) }, () => view, pushed), pushed);
}

/** What stops or waits has a reason, which the page translates. */
for (const [name, given] of rows)
  test(`every step of explain without a reason, and its conclusion, is translated into Chinese: ${name}`, async () => {
    const { summary, steps, targets } = await explain(given);
    const texts = [...steps, ...targets.flatMap((target) => target.steps)]
      .filter(({ id, reason, text }) => reason === undefined && text !== 'pass' && id !== 'minAge' && id !== 'windows')
      .map(({ text }) => text);
    assert.ok(texts.length > 2);
    for (const text of [summary, ...texts]) {
      const chinese = sentenceInChinese(text);
      assert.ok(chinese !== undefined, text);
      assert.doesNotMatch(chinese, /\b(?:is|the|would|that|which)\b/, text);
    }
  });

test('the translation into Chinese leaves texts of others and very long texts alone', () => {
  for (const text of ['', 'constructor', '__proto__', 'panic: the setting is missing', `since now: ${'x'.repeat(3_000)}`])
    assert.equal(sentenceInChinese(text), undefined, text);
  assert.equal(sentenceInChinese('panic: it is suspended by foo, which runs'), undefined);
  const costly = Array.from({ length: 150 }, (_, index) => `since ${index}:`).join(' ');
  assert.match(sentenceInChinese(costly) ?? '', /^自 0 起：自 1 起：.*since 148\D+since 149/);
});

test('the page of a policy in Chinese explains in Chinese', async (t) => {
  const { get } = openDashboard(t, exampleOptions());
  const { text } = await get('/policies/shop/checkout', { 'accept-language': 'zh-CN' });
  const [, explained = ''] = text.split('<section id="explanation">');
  assert.match(explained, /<code>namespace<\/code> 命名空间 shop 已被选中/);
  assert.match(explained, /Deployment shop\/checkout 存在/);
  assert.match(text, /中的最高版本/);
  assert.doesNotMatch(explained.split('</section>')[0] ?? '', /lang="en"/);
});
