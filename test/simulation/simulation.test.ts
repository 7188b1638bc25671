import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { mutations } from './mutations.ts';
import { runScenario } from './run.ts';
import { drawScenario } from './scenario.ts';
import { runSeeds } from './seeds.ts';
import type { SeedResult } from './seed-worker.ts';

suite('simulation', () => {
  test('the same seed tells the same story', async () => {
    const [one, other] = [await runScenario(drawScenario(7, true)), await runScenario(drawScenario(7, true))];
    assert.ok(one.patches > 0);
    assert.deepEqual(one.story, other.story);
  });

  test('each rule that is to be broken on purpose is still where it was', () => {
    for (const { rule, file, from } of mutations)
      assert.ok(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').includes(from), `${file} has no "${from}": ${rule}`);
  });

  for (const withPeople of [false, true])
    test(`no invariant is broken ${withPeople ? 'with' : 'without'} people`, async () => {
      const results: SeedResult[] = [];
      await runSeeds({ first: 1, count: 50, withPeople, onResult: (result) => void results.push(result) });
      const broken = results.flatMap(({ seed, violations }) =>
        violations.map(({ invariant, detail }) => `seed ${seed}: ${invariant}: ${detail}`),
      );
      assert.deepEqual(broken, []);
    });
});
