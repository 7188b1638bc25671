/** So many pushes in so many seconds, and all the while somebody dies. */
import { setTimeout as delay } from 'node:timers/promises';
import { createFleet } from '../../test/end-to-end/fleet.ts';
import { choose, type StormOptions, type Victim } from '../../test/end-to-end/storm.ts';
import { deliverUntilAccepted } from '../../test/end-to-end/world.ts';
import { createRandom, type Random } from '../fuzz/random.ts';

export type TimedStormOptions = Omit<StormOptions, 'kills'> & { readonly seconds: number };

/** Among our processes, and among what they need, somebody dies after a pause of at most so long, and comes back before the next one does. */
const longestPauseMs = 4_000;

/** Fails unless each workload runs its image in the end and was changed exactly once; tells how many died, and when the last push was accepted and done. */
export async function timedStorm(options: TimedStormOptions) {
  const { world, receivers, victims, random, size, seconds, together = 1, prefix = 'timed', onKill } = options;
  const fleet = await createFleet(world, prefix, size);
  const began = performance.now();
  const passed = () => (performance.now() - began) / 1_000;
  const sent = fleet.deliveries.map(async (body, index) => {
    await delay((index * seconds * 1_000) / size);
    const first = index % receivers.length;
    await deliverUntilAccepted(body, ...receivers.slice(first), ...receivers.slice(0, first));
  });
  let dead = 0;
  const killAgainAndAgain = async (group: readonly Victim[], chance: Random) => {
    for (let turn = chance.below(group.length); passed() < seconds; turn++) {
      await delay(chance.below(longestPauseMs));
      const chosen = choose(group, turn, together, chance);
      onKill?.(chosen.map(({ name }) => name));
      dead += chosen.length;
      await Promise.all(chosen.map((victim) => victim.kill9()));
      for (const victim of chosen) await victim.restart();
    }
  };
  // Each goes by chances of its own, so that the seed decides, whoever is slower to come back.
  const groups = [victims.filter(({ isOurs }) => isOurs), victims.filter(({ isOurs }) => !isOurs)];
  await Promise.all(groups.map((group) => killAgainAndAgain(group, createRandom(random.below(2 ** 31)))));
  await Promise.all(sent);
  const acceptedAfter = passed();
  await fleet.assertPatchedOnce();
  return { dead, acceptedAfter, doneAfter: passed() };
}
