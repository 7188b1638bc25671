import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSelection } from '../../../src/core/plan/is-selection.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { allKnown, digestOf, latestSpec, noAliases, policyOf, specOf, workloadOf } from '../model/samples.ts';

const image = 'registry.example.com/shop/web';
const semver1x = specOf({ strategy: strategies.semver({ range: '1.x' }) });

/** Whether `tag` is what is selected, where `runs` runs and `latest` was selected before. */
function isSelectedBy(tag: string, runs: string, latest?: string, spec = specOf()): boolean {
  const findWorkload = () => workloadOf({ web: `${image}:${runs}` });
  const candidate = { tag };
  const plan = planUpdate({ spec, candidate, hasApplied: true, aliases: noAliases, ...allKnown, findWorkload });
  const status = latest === undefined ? {} : { latest: { tag: latest, selectedAt: '2026-01-01T00:00:00Z' } };
  return isSelection(candidate, spec, policyOf({ status }), plan);
}

const rows: [name: string, args: Parameters<typeof isSelectedBy>, expected: boolean][] = [
  ['newer than what was selected', ['1.4.0', '1.3.0', '1.3.0'], true],
  ['the same again', ['1.3.0', '1.3.0', '1.3.0'], true],
  ['equal to what was selected, and later by name', ['v1.3.0', '1.3.0', '1.3.0'], true],
  ['equal to what was selected, and earlier by name', ['1.3.0', 'v1.3.0', 'v1.3.0'], false],
  ['older than what was selected', ['1.2.0', '1.3.0', '1.3.0'], false],
  ['older than what was selected, newer than what runs', ['1.2.0', '1.0.0', '1.3.0'], false],
  ['nothing was selected, and newer than what runs', ['1.2.0', '1.0.0'], true],
  ['nothing was selected, and older than what runs', ['1.2.0', '1.3.0'], false],
  ['what was selected is no candidate any more', ['1.4.0', '1.3.0', '2.0.0', semver1x], true],
  ['what was selected is no candidate any more, and older than what runs', ['1.2.0', '1.3.0', '2.0.0', semver1x], false],
  ['a followed tag', ['latest', `latest@${digestOf('a')}`, 'latest', latestSpec()], true],
];

for (const [name, args, expected] of rows)
  test(`a candidate ${expected ? 'is' : 'is not'} the selection in the case "${name}"`, () =>
    assert.equal(isSelectedBy(...args), expected));
