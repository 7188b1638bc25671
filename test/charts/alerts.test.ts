/** Each alert of the chart fires when it should, and only then, in the eyes of Prometheus. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { policyStates } from '../../src/core/model/policy-state.ts';
import { findPromtool, lacksPromtool } from '../harness/binaries.ts';
import { runCommand } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { alertCases, type AlertCase, type Series } from './alert-cases.ts';

const skip = (await lacksPromtool()) ?? false;

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const file = join(import.meta.dirname, '../../charts/image-watcher/files/alerts.yaml');
const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** A test in the form of promtool: https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/ */
function testOf({ alert, labels, annotations }: Rule, series: Series, { at, every = '1m', alerts }: Omit<AlertCase, 'fires' | 'silent'>) {
  return {
    interval: every,
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name.startsWith('up{') ? name : `image_watcher_${name}`,
      values,
    })),
    alert_rule_test: [
      {
        eval_time: at,
        alertname: alert,
        exp_alerts: alerts.map((own) => ({
          exp_labels: { ...labels, ...own },
          exp_annotations: Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, fill(text, own)])),
        })),
      },
    ],
  };
}

/** The text of an annotation with its labels. */
function fill(text: string, labels: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? assert.fail(`no label ${name}`));
}

test('each alert has a case, and each case an alert', () =>
  assert.deepEqual(Object.keys(alertCases).toSorted(), rules.map(({ alert }) => alert).toSorted()));

test('alerts name only states that policies have', () => {
  const named = rules.flatMap(({ expr }) => [...expr.matchAll(/policies_in_state\{state="(\w+)"/g)].map(([, state]) => state));
  assert.ok(named.length > 0);
  for (const state of named) assert.ok((policyStates as readonly unknown[]).includes(state), state);
});

describe('the alert', { skip }, () => {
  const check = async (test: ReturnType<typeof testOf>) => {
    const folder = tempFolder('alerts');
    const path = join(folder, 'tests.yaml');
    const tests = { rule_files: [file], evaluation_interval: test.interval, tests: [test] };
    writeFileSync(path, stringify(tests, { aliasDuplicateObjects: false }));
    await runCommand(await findPromtool(), ['test', 'rules', path], { cwd: folder });
  };

  for (const rule of rules) {
    const known = alertCases[rule.alert];
    if (known === undefined) continue;
    const { fires, silent } = known;
    assert.ok(Object.keys(silent).length > 0, rule.alert);
    it(`${rule.alert} fires`, () => check(testOf(rule, fires, known)));
    for (const [why, series] of Object.entries(silent))
      it(`${rule.alert} does not fire if ${why}`, () => check(testOf(rule, series, { ...known, alerts: [] })));
  }

  it('fails its test if the case expects another alert', () =>
    assert.rejects(check(testOf(rules[0] ?? assert.fail(), {}, { at: '1m', alerts: [{ registry: 'ghcr.io' }] })), /FAILED/));
});
