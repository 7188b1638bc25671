/**
 * The long form of the fault suite, on real servers: `node bench/faults.ts [--seed N] [--pushes N] [--kills N] [--soak MINUTES]`.
 * Two receivers and two workers take 2,000 pushes while they, Redis, registry, API server and etcd are killed (-9), one to three at a time; then pushes go on for
 * the soak, and memory, sockets and keys of Redis must not grow. Fails (exit code 1) unless every accepted push took effect, once. The seed repeats who dies when.
 */
import { parseArgs } from 'node:util';
import { startWorld } from '../test/end-to-end/world.ts';
import { storm, victimsOf } from '../test/end-to-end/storm.ts';
import { soak } from './faults/soak.ts';
import { createRandom } from './fuzz/random.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, pushes: { type: 'string' }, kills: { type: 'string' }, soak: { type: 'string' } },
});
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
const pushes = Number(values.pushes ?? 2_000);
const kills = Number(values.kills ?? 40);
const minutes = Number(values.soak ?? 2);
if (![seed, pushes, kills].every(Number.isInteger) || !(minutes >= 0)) throw new Error('--seed, --pushes, --kills and --soak are numbers');

console.log(`seed ${seed}: ${pushes} pushes, ${kills} times kill -9, ${minutes} min of soak`);
const started = performance.now();
const elapsed = () => `${Math.round((performance.now() - started) / 1_000)} s`;
const world = await startWorld();
try {
  const receivers = await Promise.all([world.start({ roles: 'receive' }), world.start({ roles: 'receive' })]);
  const workers = await Promise.all([world.start({ roles: 'work' }), world.start({ roles: 'work' })]);
  const victims = victimsOf(world, receivers, workers);
  const onKill = (names: readonly string[]) => console.log(`${elapsed()}  kill -9 ${names.join(', ')}`);
  await storm({ world, receivers, victims, random: createRandom(seed), size: pushes, kills, together: 3, onKill });
  console.log(`${elapsed()}  every push took effect, none twice`);
  if (minutes > 0) {
    const problems = await soak(world, [...receivers, ...workers], minutes, (line) => console.log(`${elapsed()}  ${line}`));
    for (const problem of problems) console.log(`wrong: ${problem}`);
    process.exitCode = problems.length === 0 ? 0 : 1;
  }
} catch (error) {
  console.log(`wrong, with seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await world.stop();
}
