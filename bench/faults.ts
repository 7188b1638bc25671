/**
 * The long form of the fault suite, on real servers and processes: `npm run bench -- faults [--seed N] [--pushes N] [--seconds N] [--rounds N] [--overload SECONDS]
 * [--soak MINUTES]`; 0 leaves a part out.
 * Two receivers and two workers take 2,000 pushes in 60 s while they, Redis, registry, API server and etcd are killed (-9), one to three at a time: every accepted push has
 * to take effect, once. Then all roles are restarted (SIGTERM) under load: no request may be refused. Then more pushes come than are worked off: memory has to stay bounded, and
 * all has to recover by itself. Then pushes go on for the soak: memory, sockets and keys of Redis must not grow. Exit code 1 if anything of that is not so. The seed
 * repeats who dies when.
 */
import { parseArgs } from 'node:util';
import { secret, startWorld } from '../test/end-to-end/world.ts';
import { startControlPlane } from '../test/harness/control-plane.ts';
import { victimsOf } from '../test/end-to-end/storm.ts';
import { asInImage } from '../test/harness/image-start.ts';
import { prepare } from '../test/harness/prepare.ts';
import { overload } from './faults/overload.ts';
import { roll } from './faults/rolling.ts';
import { soak } from './faults/soak.ts';
import { timedStorm } from './faults/timed-storm.ts';
import { createRandom } from './fuzz/random.ts';

const defaults = { seed: Date.now() % 2 ** 32, pushes: 2_000, seconds: 60, rounds: 3, overload: 60, soak: 10 };

const names = Object.keys(defaults) as (keyof typeof defaults)[];
const { values } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])) });
const numberOf = (name: keyof typeof defaults): number => {
  const value = values[name] === undefined ? defaults[name] : Number(values[name]);
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} is a number`);
  return value;
};
const [seed, pushes, seconds, rounds, flood, minutes] = names.map(numberOf) as [number, number, number, number, number, number];

const started = performance.now();
const say = (line: string) => console.log(`${String(Math.round((performance.now() - started) / 1_000)).padStart(4)} s  ${line}`);

say(
  `seed ${seed}: ${pushes} pushes in ${seconds} s under kill -9; ${rounds} rounds of restarts; ${flood} s of overload; ${minutes} min of soak`,
);
await prepare();
const cluster = await startControlPlane();
const world = await startWorld({ cluster, fsync: true });
const problems: string[] = [];
try {
  const { program, env } = await asInImage();
  const start = (roles: string) => world.start({ roles, program, env: { ...env, WEBHOOK_SECRET: secret } });
  const receivers = await Promise.all([start('receive'), start('receive')]);
  const workers = await Promise.all([start('work'), start('work')]);
  if (pushes > 0) {
    const victims = victimsOf(world, cluster, receivers, workers);
    const onKill = (dead: readonly string[]) => say(`kill -9 ${dead.join(', ')}`);
    const random = createRandom(seed);
    const { dead, ...after } = await timedStorm({ world, receivers, victims, random, size: pushes, seconds, together: 3, onKill });
    const [accepted, done] = [after.acceptedAfter, after.doneAfter].map(Math.round);
    say(
      `storm: ${dead} times kill -9; all ${pushes} pushes were accepted after ${accepted} s, and took effect after ${done} s, none twice`,
    );
  }
  if (rounds > 0) {
    const rolled = await roll(world, receivers, workers, rounds);
    say(`restarts: ${[...rolled.answers].map(([what, count]) => `${count} × ${what}`).join(', ')}; every push took effect, none twice`);
    problems.push(...rolled.problems);
  }
  if (flood > 0) {
    const flooded = await overload(world, receivers, workers, flood);
    say(`overload: ${flooded.figures}`);
    problems.push(...flooded.problems);
  }
  if (minutes > 0) problems.push(...(await soak(world, [...receivers, ...workers], minutes, (line) => say(`soak: ${line}`))));
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
} finally {
  await world.stop();
}
for (const problem of problems) say(`wrong, with seed ${seed}: ${problem}`);
say(problems.length === 0 ? 'all is well' : 'not all is well');
process.exitCode = problems.length === 0 ? 0 : 1;
