/** `npm run simulate`: runs seeds, or tells the story of one. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runScenario } from './run.ts';
import { mutations, tryMutation } from './mutations.ts';
import { drawScenario } from './scenario.ts';
import { runSeeds } from './seeds.ts';
import { shrink } from './shrink.ts';

const usage = `npm run simulate -- [options]

  --seeds N      how many seeds to run; 1000 unless given
  --first N      the first of them; 1 unless given
  --no-people    without people: only pushes and faults (--people: with them, as without an option)
  --seed N       tells the story of one seed, made as small as possible
  --whole        with --seed: the whole story, not made smaller
  --mutations    breaks rules on purpose, and says which seed shows each: within --seeds N
  --help`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    first: { type: 'string', default: '1' },
    people: { type: 'boolean', default: true },
    seed: { type: 'string' },
    story: { type: 'boolean', default: true },
    whole: { type: 'boolean', default: false },
    mutations: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
  allowNegative: true,
});

async function tellStory(seed: number): Promise<boolean> {
  const scenario = drawScenario(seed, values.people);
  const verdict = await runScenario(scenario);
  const [broken] = verdict.violations;
  if (values.whole || broken === undefined) {
    console.log(verdict.story.join('\n'));
    return broken === undefined;
  }
  const { scenario: small, verdict: smallVerdict } = await shrink(scenario, broken.invariant);
  console.log(
    `seed ${seed}, with ${small.operations.length} of ${scenario.operations.length} operations; replicas ${scenario.setup.replicas.join(', ')}`,
  );
  console.log(scenario.setup.policies.map(({ name, spec }) => `policy ${name}: ${JSON.stringify(spec)}`).join('\n'));
  console.log(smallVerdict.story.join('\n'));
  return false;
}

const shownPerInvariant = 10;

async function runMany(first: number, count: number): Promise<boolean> {
  const began = performance.now();
  const broken = new Map<string, number>();
  let [done, patches, pushes, failed] = [0, 0, 0, 0];
  const summary = () => {
    const seconds = ((performance.now() - began) / 1_000).toFixed(0);
    const people = values.people ? 'with' : 'without';
    return `${done} of ${count} seeds ${people} people in ${seconds} s: ${pushes} pushes, ${patches} changed images, ${failed} seeds failed`;
  };
  await runSeeds({
    first,
    count,
    withPeople: values.people,
    onResult({ seed, violations, ...counts }) {
      done++;
      patches += counts.patches;
      pushes += counts.pushes;
      if (violations.length > 0) failed++;
      for (const [name, [one]] of Map.groupBy(violations, ({ invariant }) => invariant)) {
        const times = (broken.get(name) ?? 0) + 1;
        broken.set(name, times);
        if (times <= shownPerInvariant) console.log(`seed ${seed}: ${name}: ${one?.detail.slice(0, 300)}`);
      }
      if (done % 100 === 0 && done < count) console.log(summary());
    },
  });
  console.log(summary());
  for (const [name, times] of broken) console.log(`${String(times).padStart(6)} × ${name}`);
  if (failed > 0) console.log(`The story of a seed: npm run simulate -- --seed N${values.people ? '' : ' --no-people'}`);
  return failed === 0;
}

async function tryAll(seeds: number): Promise<boolean> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  let isFine = true;
  for (const mutation of mutations) {
    const { seed, invariant, seeds: count } = await tryMutation(mutation, root, seeds);
    isFine &&= seed !== undefined;
    console.log(`${mutation.rule}: ${seed === undefined ? `not noticed in ${count} seeds` : `seed ${seed} shows "${invariant}"`}`);
  }
  return isFine;
}

async function run(): Promise<boolean> {
  if (values.mutations) return tryAll(Number(values.seeds));
  return values.seed === undefined ? runMany(Number(values.first), Number(values.seeds)) : tellStory(Number(values.seed));
}

if (values.help) console.log(usage);
else process.exitCode = (await run()) ? 0 : 1;
