import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { validateSpec } from '../../src/service/resources/validate.ts';
import { mutations } from './mutations.ts';
import { runScenario } from './run.ts';
import { drawScenario } from './scenario.ts';
import { policyNamespace } from './setup.ts';
import { shrink } from './shrink.ts';
import { runSeeds } from './seeds.ts';
import type { SeedResult } from './seed-worker.ts';
import { runsOf } from '../harness/full-tests.ts';

suite('simulation', () => {
  test('the same seed leads to the same story', async () => {
    const [one, other] = [await runScenario(drawScenario(7, true)), await runScenario(drawScenario(7, true))];
    assert.ok(one.patches > 0);
    assert.deepEqual(one.story, other.story);
  });

  test('a failing scenario is shrunk by all operations that do not matter', async () => {
    const scenario = drawScenario(7, true);
    const [first, second] = [scenario.operations[2], scenario.operations.at(-3)];
    assert.ok(first !== undefined && second !== undefined);
    const { scenario: small } = await shrink(scenario, 'breaks', async ({ operations }) => {
      const isBroken = operations.includes(first) && operations.includes(second);
      const violations = isBroken ? [{ invariant: 'breaks', detail: 'with these two', at: 0 }] : [];
      return { violations, story: [], patches: 0, pushes: 0 };
    });
    assert.deepEqual(small.operations, [first, second]);
  });

  test('every policy that the simulation draws is valid', () => {
    const problems = Array.from({ length: 200 }, (_, seed) => drawScenario(seed, false).setup.policies).flatMap((drawn) =>
      drawn.flatMap(({ name, spec }) => validateSpec(spec, { namespace: policyNamespace }).map(({ message }) => `${name}: ${message}`)),
    );
    assert.deepEqual([...new Set(problems)], []);
  });

  test('each rule that the mutations break is still at its place in the code', () => {
    for (const { rule, file, from } of mutations)
      assert.ok(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').includes(from), `${file} has no "${from}": ${rule}`);
  });

  for (const withPeople of [false, true])
    test(`the simulation breaks no invariant ${withPeople ? 'with' : 'without'} actions of people`, async () => {
      const results: SeedResult[] = [];
      await runSeeds({ first: 1, count: runsOf(50), withPeople, onResult: (result) => void results.push(result) });
      const broken = results.flatMap(({ seed, violations }) =>
        violations.map(({ invariant, detail }) => `seed ${seed}: ${invariant}: ${detail}`),
      );
      assert.deepEqual(broken, []);
    });
});
