/** Runs a scenario: operations and faults for forty seconds, then peace until everything is quiet, then the verdict. */
import { installClock } from './clock.ts';
import { lookAnew } from './fresh-look.ts';
import { checkEnd, watchChanges } from './invariants.ts';
import { isQuiet, longestPeaceMs } from './quiet.ts';
import { createRandom } from './random.ts';
import type { Scenario } from './scenario.ts';
import { kill } from './process.ts';
import type { Violation } from './story.ts';
import { createWorld, type World } from './world.ts';

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly story: readonly string[];
  readonly patches: number;
  readonly pushes: number;
}

const startTime = Date.parse('2026-03-01T12:00:00Z');
/** Until every replica has looked at all policies again: each minute, and what changed within the minute before is not looked at. */
const leastPeaceMs = 125_000;

/** Runs it, with all operations or only those that are given. */
export async function runScenario({ seed, setup, operations }: Scenario): Promise<Verdict> {
  const random = createRandom(seed).fork('run');
  const clock = installClock(startTime, random.fork('math'));
  try {
    const world = createWorld(setup, clock, random);
    watchChanges(world);
    for (const name of setup.replicas) world.start(name);
    if (setup.hasNoise) makeNoise(world);
    for (const { at, run } of operations) clock.schedule(undefined, at, () => run(world));
    const lastAt = Math.max(3_000, ...operations.map(({ at }) => at));
    await clock.runUntil(startTime + lastAt + 1_000);
    calm(world);
    const calmAt = clock.now();
    await clock.runUntil(calmAt + leastPeaceMs);
    while (clock.now() < calmAt + longestPeaceMs && !isQuiet(world)) await clock.runUntil(clock.now() + 1_000);
    checkEnd(world);
    await lookAnew(world);
    for (const { process } of world.replicas.values()) kill(process);
    return {
      violations: world.story.violations,
      story: world.story.lines(),
      patches: world.patches.all.filter(({ isOurs }) => isOurs).length,
      pushes: world.pushes.length,
    };
  } finally {
    clock.uninstall();
  }
}

/** A few of all requests fare badly. */
function makeNoise({ network, clock }: World): void {
  const [from, until] = [clock.now(), Infinity];
  for (const server of ['api', 'registry', 'redis'] as const)
    for (const kind of ['slow', 'refused', 'lost'] as const) network.add({ from, until, server, kind, share: 0.02 });
}

function calm({ network, replicas, story, start }: World): void {
  story.tell('fault', 'no more faults');
  network.calm();
  for (const [name, { process, watches }] of replicas) {
    process.frozenUntil = 0;
    process.skewMs = 0;
    watches.breakAll();
    if (process.isDead) start(name);
  }
}
