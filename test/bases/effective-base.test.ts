/** What a BaseImagePolicy leaves out, it takes from the configuration; what it says, counts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { effectiveBase, followWritten } from '../../src/bases/effective-base.ts';
import { readBasePolicy } from '../../src/bases/resource/read-base-policy.ts';
import { isUsableBase } from '../../src/core/model/base-policy.ts';
import { createObjectStore } from '../../src/service/kube/object-store.ts';
import type { BaseImagePolicy } from '../../src/core/model/base-policy.ts';
import { namespaceRulesOf } from '../../src/service/config/policy-defaults.ts';
import { loadSettings } from '../../src/service/config/settings.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { imageOf, policyWith, rebase, run as act, trigger } from './policies/acting.ts';
import { former, pods, run as restart, web } from './policies/restart-run.ts';

const file = join(tempFolder('effective-base'), 'config.yaml');

function settingsOf(config: string, spec: object = {}, labels: Record<string, string> = {}) {
  writeFileSync(file, config);
  const metadata = { name: 'java', namespace: 'platform', uid: 'u1', resourceVersion: '1', generation: 1 };
  const written = { image: 'harbor.example.com/library/base-java', select: { semver: {} }, ...spec };
  const policy = effectiveBase(readBasePolicy({ metadata, spec: written }, { aliases: new Map(), customTargets: [] }), {
    rules: namespaceRulesOf(loadSettings({ file, env: {} }).config),
    labelsOf: (namespace) => (namespace === 'platform' ? labels : undefined),
  });
  assert.ok(isUsableBase(policy.spec));
  return policy.spec.base;
}

test('a policy of a base without an interval is polled as the configuration says, at most once a minute', () => {
  const intervalOf = (config: string, spec?: object) => settingsOf(config, spec).pollIntervalMs;
  assert.equal(intervalOf('{}'), 3_600_000);
  assert.equal(intervalOf('poll: {interval: 10m}'), 600_000);
  assert.equal(intervalOf('{poll: {interval: 10m}, policyDefaults: {poll: {interval: 20m}}}'), 1_200_000);
  assert.equal(intervalOf('policyDefaults: {poll: {interval: 20m}, namespaces: [{names: [platform], poll: {interval: 10s}}]}'), 60_000);
  assert.equal(intervalOf('poll: {interval: 10s}'), 60_000);
  assert.equal(intervalOf('poll: {interval: 10m}', { poll: { interval: '2m' } }), 120_000);
});

test('a setting of a base comes from its policy, else from the default of its namespace, else from that of the cluster', () => {
  const config = `policyDefaults:
  minAge: 1h
  windows: [{from: "01:00", to: "02:00"}]
  rollout: {onFailure: Hold}
  namespaces: [{selector: {matchLabels: {tier: prod}}, minAge: 2h, windows: [{from: "03:00", to: "04:00"}]}]`;
  const shown = ({ minAgeMs, windows, origins }: ReturnType<typeof settingsOf>) => [
    minAgeMs,
    windows.map(({ from }) => from),
    origins.minAge,
    origins.windows,
  ];
  assert.deepEqual(shown(settingsOf(config)), [3_600_000, ['01:00'], 'cluster', 'cluster']);
  assert.deepEqual(shown(settingsOf(config, {}, { tier: 'prod' })), [7_200_000, ['03:00'], 'namespace', 'namespace']);
  assert.deepEqual(shown(settingsOf(config, { minAge: '5m', windows: [] }, { tier: 'prod' })), [300_000, [], 'policy', 'policy']);
  // A base has waves of its own.
  assert.equal(settingsOf(config).rollout, undefined);
});

test('defaults of bases follow the labels of the namespace, and only policies whose settings change are reported', () => {
  const labels = new Map<string, Record<string, string>>();
  const selector = { matchLabels: { tier: 'prod' } };
  const rules = { cluster: {}, namespaces: [{ selector, values: { minAge: 1_000 } }] };
  const written = createObjectStore<BaseImagePolicy>();
  const { policies, refresh } = followWritten(written, { rules, labelsOf: (namespace) => labels.get(namespace) });
  const changes: string[] = [];
  policies.subscribe(({ type, object: { spec } }) => changes.push(`${type} ${isUsableBase(spec) ? spec.base.minAgeMs : 'unusable'}`));
  const policy = policyWith({});
  written.put(policy);
  labels.set('platform', { tier: 'prod' });
  for (const namespace of ['other', 'platform', 'platform']) refresh(namespace);
  labels.delete('platform');
  refresh('platform');
  written.remove({ ...policy, resourceVersion: '2' });
  assert.deepEqual(changes, ['added undefined', 'updated 1000', 'updated undefined', 'deleted undefined']);
});

describe('outside of the windows of the configuration', () => {
  const defaults = { windows: [{ from: '02:00', to: '03:00', timeZone: 'UTC' }] };

  test('no workload is restarted before the next window opens', async () => {
    const { restarted, until } = await restart(web(['a']), { a: pods(former) }, { defaults });
    assert.deepEqual([restarted, until?.toISOString()], [[], '2026-11-24T02:00:00.000Z']);
    assert.deepEqual((await restart(web(['a']), { a: pods(former) }, { defaults, windows: [] })).restarted, ['a']);
  });

  test('no rebuild is requested before the next window opens', async () => {
    const { requested, until } = await act({ onNewBase: [trigger()] }, [imageOf('web')], { defaults });
    assert.deepEqual([requested, until?.toISOString()], [[], '2026-11-24T02:00:00.000Z']);
    const always = await act({ onNewBase: [trigger()], windows: [] }, [imageOf('web')], { defaults });
    assert.equal(always.requested.length, 1);
  });

  test('a child is created without windows of its own, or with an empty list if the policy of the base has an empty list', async () => {
    const updateOf = async (spec: object) => {
      const { created } = await act({ onNewBase: [rebase], ...spec }, [imageOf('web')], { defaults });
      return created.map(({ spec }) => spec.update);
    };
    assert.deepEqual(await updateOf({}), [undefined]);
    assert.deepEqual(await updateOf({ windows: [] }), [{ windows: [] }]);
  });
});
