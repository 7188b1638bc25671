import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { namespaceRulesOf } from '../../../src/service/config/policy-defaults.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('config'), 'config.yaml');

function load(text: string) {
  writeFileSync(file, text);
  return namespaceRulesOf(loadSettings({ file, env: {} }).config);
}

function problems(text: string): string[] {
  try {
    load(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

test('without settings, every namespace is selected and there are no defaults', () => {
  assert.deepEqual(load('{}'), { cluster: {}, namespaces: [] });
  assert.deepEqual(load('poll: {interval: 1h}').cluster, {});
});

test('defaults of the cluster and of namespaces are read like the fields of a policy', () => {
  const rules = load(`
watch: {namespaceSelector: {matchLabels: {image-watcher: enabled}}}
policyDefaults:
  poll: {interval: 10m}
  minAge: 30m
  windows: [{from: "09:00", to: "17:00"}]
  rollout: {onFailure: Rollback}
  namespaces:
    - names: [shop]
      minAge: 1h30m
    - selector: {matchExpressions: [{key: tier, operator: In, values: [prod]}]}
      rollout: {watch: false}
`);
  assert.deepEqual(rules, {
    selector: { matchLabels: { 'image-watcher': 'enabled' } },
    cluster: {
      poll: 600_000,
      minAge: 1_800_000,
      windows: [{ from: '09:00', to: '17:00', timeZone: 'UTC' }],
      rollout: { settings: { timeoutMs: 600_000, onFailure: 'Rollback' }, maxParallel: 10 },
    },
    namespaces: [
      { names: ['shop'], values: { minAge: 5_400_000 } },
      {
        selector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['prod'] }] },
        values: { rollout: { settings: undefined, maxParallel: 10 } },
      },
    ],
  });
});

test('poll.interval is the default of the cluster for polls, unless policyDefaults has one', () => {
  assert.deepEqual(load('poll: {interval: 5m}').cluster, { poll: 300_000 });
  assert.deepEqual(load('{poll: {interval: 5m}, policyDefaults: {poll: {interval: 7m}}}').cluster, { poll: 420_000 });
});

const refused: [text: string, problem: RegExp][] = [
  ['policyDefaults: {minAge: 0s}', /^policyDefaults\.minAge: write a duration longer than zero/],
  ['policyDefaults: {minAge: 5}', /^policyDefaults\.minAge: is the number 5: write it in quotes/],
  ['policyDefaults: {minage: 5m}', /^policyDefaults\.minage: is not a field; did you mean "minAge"/],
  ['policyDefaults: {poll: {intervall: 5m}}', /^policyDefaults\.poll\.intervall: is not a field/],
  ['policyDefaults: {windows: [{from: "9", to: "17:00"}]}', /^policyDefaults\.windows\[0\]\.from: "9" is not valid/],
  ['policyDefaults: {windows: [{from: "09:00", to: "17:00", day: [Mon]}]}', /^policyDefaults\.windows\[0\]\.day: is not a field/],
  ['policyDefaults: {windows: [{from: "09:00", to: "09:00"}]}', /^policyDefaults\.windows\[0\]: from and to are the same time/],
  [
    'policyDefaults: {windows: [{from: "09:00", to: "17:00", timeZone: Mars}]}',
    /^policyDefaults\.windows\[0\]\.timeZone: "Mars" is not a time zone/,
  ],
  ['policyDefaults: {rollout: {onFailure: Explode}}', /^policyDefaults\.rollout\.onFailure: "Explode" is none of Rollback, Hold, Ignore/],
  ['policyDefaults: {verify: {}}', /^policyDefaults\.verify: is not a field/],
  ['policyDefaults: {namespaces: [{minAge: 5m}]}', /^policyDefaults\.namespaces\[0\]: matches no namespace: write names or selector/],
  ['policyDefaults: {namespaces: [{selector: {}}]}', /^policyDefaults\.namespaces\[0\]\.selector: an empty selector/],
  ['watch: {namespaceSelector: {}}', /^watch\.namespaceSelector: an empty selector/],
  ['watch: {namespaceSelector: {matchlabels: {a: b}}}', /did you mean "matchLabels"/],
  [
    'watch: {namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}',
    /^watch\.namespaceSelector\.matchExpressions\[0\]: In and NotIn need values/,
  ],
  ['watch: {namespaces: [a], namespaceSelector: {matchLabels: {a: b}}}', /^watch\.namespaceSelector: contradicts watch\.namespaces/],
  [
    '{watch: {namespaces: [a]}, policyDefaults: {namespaces: [{names: [a]}, {selector: {matchLabels: {a: b}}}]}}',
    /^policyDefaults\.namespaces\[1\]\.selector: contradicts watch\.namespaces, .*: write names/,
  ],
];

for (const [text, expected] of refused) {
  test(`the configuration "${text}" is refused at the start`, () => {
    const found = problems(text);
    assert.ok(
      found.some((problem) => expected.test(problem)),
      found.join('\n'),
    );
  });
}
