/** `npm run agree`: how many of a number of policies are not said to be as they are, in every state and after whatever happens. */
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { withProgress } from '../harness/progress.ts';
import { reportLongWaits } from '../harness/wait-for.ts';
import { createChance, findDifferences, makePolicies } from './agreement.ts';
import { startScene, type Scene, type Subject } from './scene.ts';

const usage = `npm run agree -- [options]

  --policies N   how many policies; 300 unless given
  --events N     how many things happen to them, one after the other; 300 unless given
  --seed N       which things; 1 unless given
  --help`;

const { values } = parseArgs({
  options: {
    policies: { type: 'string', default: '300' },
    events: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

/** After this time, whatever is not said as it is counts as a difference. */
const limitMs = 2_000;
/** In a burst, Events are written up to 5 s later, after the workloads and statuses. */
const eventsMs = 6_000;
const pauseMs = 50;

/** Looks until all say the same, at most until the limit: what differs then, and how long it took. */
async function watch(
  scene: Scene,
  subjects: readonly Subject[],
  closely: readonly Subject[],
): Promise<{ readonly differences: readonly string[]; readonly lagMs: number }> {
  const started = performance.now();
  for (;;) {
    const askedMs = performance.now() - started;
    const differences = await findDifferences(scene, subjects, closely);
    if (differences.length === 0) return { differences, lagMs: askedMs };
    await delay(pauseMs);
    // A registry that was down gets no requests for some seconds: what was pushed meanwhile is not known yet.
    const isLater = scene.wasDown || differences.every((one) => one.includes(': Events: '));
    if (askedMs < (isLater ? eventsMs : limitMs)) continue;
    // The views are read one after the other: what changed meanwhile is no difference.
    const again = new Set(await findDifferences(scene, subjects, closely));
    return { differences: differences.filter((one) => again.has(one)), lagMs: askedMs };
  }
}

async function run(): Promise<boolean> {
  const [policies, events, seed] = [values.policies, values.events, values.seed].map(Number);
  if (policies === undefined || events === undefined || seed === undefined) return false;
  reportLongWaits((what, waitedMs) => console.error(`waiting for ${what} (${Math.round(waitedMs / 1_000)} s)`));
  const scene = await withProgress('starting the cluster, the registries and the service', startScene);
  try {
    let made = 0;
    const subjects = await withProgress(`making ${policies} policies`, () => makePolicies(scene, policies, (count) => (made = count)));
    const first = await watch(scene, subjects, subjects);
    console.log(`${made} policies in all states: ${first.differences.length} differences`);
    // A difference that stays is one.
    const found = new Set(first.differences);
    for (const difference of found) console.log(difference);
    const lags: number[] = [];
    const next = createChance(scene, subjects, seed);
    for (let count = 1; count <= events; count++) {
      const { what, subject } = await next();
      const { differences, lagMs } = await watch(scene, subjects, [subject]);
      lags.push(lagMs);
      for (const difference of differences)
        if (!found.has(difference)) console.log(`after ${what} (${subject.name}, ${count}): ${difference}`);
      for (const difference of differences) found.add(difference);
      if (count % 10 === 0) console.log(`${count} of ${events} events, ${found.size} differences, ${describe(lags)}`);
    }
    console.log(
      `${policies} policies, ${events} events, seed ${seed}: ${found.size} differences after ${limitMs / 1_000} s; ${describe(lags)}`,
    );
    return found.size === 0;
  } finally {
    await scene.stop();
  }
}

function describe(lags: readonly number[]): string {
  const sorted = lags.toSorted((a, b) => a - b);
  const at = (part: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  return `all said the same after ${at(0.5)} ms (median), ${at(0.95)} ms (95 %), ${at(1)} ms (most)`;
}

if (values.help) console.log(usage);
else process.exitCode = (await run()) ? 0 : 1;
