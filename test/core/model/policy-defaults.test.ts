import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isSelected,
  matchingDefaults,
  needsLabels,
  withDefaults,
  type NamespaceRules,
  type Origins,
} from '../../../src/core/model/policy-defaults.ts';
import { specOf } from './samples.ts';

const builtIn: Origins = { poll: 'built-in', minAge: 'built-in', windows: 'built-in', rollout: 'built-in' };
const night = [{ from: '22:00', to: '04:00', timeZone: 'UTC' }];
const silent = specOf({ origins: builtIn, rollout: { timeoutMs: 600_000, onFailure: 'Ignore' } });
const hold = { settings: { timeoutMs: 60_000, onFailure: 'Hold' }, maxParallel: 3 } as const;
const unwatched = { settings: undefined, maxParallel: 10 } as const;

test('the value of a policy wins, then that of its namespace, then that of the cluster, then the built-in one; for each setting by itself', () => {
  const ofCluster = { poll: 1, minAge: 2, windows: night };
  const used = withDefaults(
    specOf({ ...silent, pollIntervalMs: 5, origins: { ...builtIn, poll: 'policy' } }),
    [{ poll: 3, minAge: 4 }],
    ofCluster,
  );
  assert.deepEqual([used.pollIntervalMs, used.minAgeMs, used.windows, used.rollout], [5, 4, night, silent.rollout]);
  assert.deepEqual(used.origins, { poll: 'policy', minAge: 'namespace', windows: 'cluster', rollout: 'built-in' });
});

test('if several entries select a namespace, the first one that has a setting provides it', () => {
  const used = withDefaults(silent, [{ minAge: 1 }, { minAge: 2, rollout: hold }], { rollout: unwatched });
  assert.deepEqual([used.minAgeMs, used.rollout, used.maxParallel], [1, hold.settings, 3]);
  assert.equal(used.origins.rollout, 'namespace');
});

test('a default can turn the watching of rollouts off, and a policy with an empty list of windows gets no default windows', () => {
  const used = withDefaults(silent, [], { rollout: unwatched });
  assert.equal('rollout' in used, false);
  const always = specOf({ ...silent, windows: [], origins: { ...builtIn, windows: 'policy' } });
  assert.equal(withDefaults(always, [{ windows: night }], {}), always);
});

test('without defaults, a spec stays the same object', () => {
  assert.equal(withDefaults(silent, [{}], {}), silent);
  assert.equal(withDefaults(specOf(), [{ poll: 1, minAge: 1, windows: night, rollout: hold }], {}).minAgeMs, undefined);
});

test('a policy that replaces a tag gets no default minAge, because the base of the rebased image has waited already', () => {
  const strategy = { ...silent.strategy, replaces: '1.4.2' };
  const used = withDefaults(specOf({ ...silent, strategy }), [{ minAge: 1 }], { minAge: 2, windows: night });
  assert.deepEqual([used.minAgeMs, used.origins.minAge, used.windows], [undefined, 'built-in', night]);
});

const prod = { matchLabels: { tier: 'prod' } };
const rules: NamespaceRules = {
  cluster: {},
  namespaces: [
    { names: ['shop'], values: { poll: 1 } },
    { selector: prod, values: { poll: 2 } },
    { names: ['ops'], selector: prod, values: { poll: 3 } },
  ],
};

test('defaults select namespaces by name, by label, or by either of both', () => {
  const polls = (namespace: string, labels?: Record<string, string>) => matchingDefaults(rules, namespace, labels).map(({ poll }) => poll);
  assert.deepEqual([polls('shop'), polls('ops'), polls('other'), polls('other', {})], [[1], [3], [], []]);
  assert.deepEqual(
    [polls('shop', { tier: 'prod' }), polls('other', { tier: 'prod' })],
    [
      [1, 2, 3],
      [2, 3],
    ],
  );
});

test('a namespace whose labels are not known is not selected', () => {
  const selecting = { ...rules, selector: prod };
  const selected = [undefined, {}, { tier: 'test' }, { tier: 'prod' }].map((labels) => isSelected(selecting, labels));
  assert.deepEqual(selected, [false, false, false, true]);
  assert.equal(isSelected(rules, undefined), true);
  assert.deepEqual(
    [needsLabels(rules), needsLabels({ cluster: {}, namespaces: [] }), needsLabels({ ...selecting, namespaces: [] })],
    [true, false, true],
  );
});
