/** Pushes to many workloads while everything that can be killed is killed. */
import type { Random } from '../../bench/fuzz/random.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { OwnControlPlane } from '../harness/control-plane.ts';
import { createFleet, eachOf } from './fleet.ts';
import { deliverUntilAccepted, type Service, type World } from './world.ts';

/** What can be killed and started again. */
export interface Victim {
  readonly name: string;
  /** A process of image-watcher, and none that it needs. */
  readonly isOurs: boolean;
  kill9(): Promise<void>;
  restart(): Promise<void>;
}

/** Everything that a push needs, those first that others wait for when they start. */
export function victimsOf(
  { redis, quiet }: World,
  { etcd, apiServer }: OwnControlPlane,
  receivers: readonly Service[],
  workers: readonly Service[],
): Victim[] {
  const name = (what: string, { kill9, restart }: Pick<Victim, 'kill9' | 'restart'>, isOurs = false): Victim => ({
    name: what,
    isOurs,
    kill9,
    restart,
  });
  return [
    name('etcd', etcd),
    name('Redis', redis),
    name('registry', quiet),
    name('API server', apiServer),
    ...workers.map((worker, index) => name(`worker ${index}`, worker, true)),
    ...receivers.map((receiver, index) => name(`receiver ${index}`, receiver, true)),
  ];
}

export interface StormOptions {
  readonly world: World;
  readonly receivers: readonly Service[];
  readonly victims: readonly Victim[];
  readonly random: Random;
  /** Workloads, each with one push. */
  readonly size: number;
  /** How often somebody is killed. */
  readonly kills: number;
  /** How many are killed at the same moment at most. */
  readonly together?: number;
  readonly prefix?: string;
  readonly onKill?: (names: readonly string[]) => void;
}

/**
 * Delivers one push to each workload and kills somebody again and again on the way, at moments that are chosen by how much is accepted or done, never by the
 * clock. Fails unless each workload runs its image in the end and was changed exactly once.
 */
export async function storm({
  world,
  receivers,
  victims,
  random,
  size,
  kills,
  together = 1,
  prefix = 'storm',
  onKill,
}: StormOptions): Promise<void> {
  const fleet = await createFleet(world, prefix, size);
  let accepted = 0;
  const deliver = async (body: string) => {
    const first = random.below(receivers.length);
    await deliverUntilAccepted(body, ...receivers.slice(first), ...receivers.slice(0, first));
    accepted++;
  };
  for (let kill = 0; kill < kills; kill++) {
    const share = fleet.deliveries.slice(Math.floor((kill * size) / kills), Math.floor(((kill + 1) * size) / kills));
    const chosen = choose(victims, kill, together, random);
    const moment = accepted + random.below(share.length + 1);
    const sending = eachOf(share, deliver);
    // Who waits for what cannot come while it is dead waits for too long: the moment is one of those that come for sure.
    await Promise.race([sending, waitFor('the moment', () => accepted >= moment, { intervalMs: 1 })]);
    onKill?.(chosen.map(({ name }) => name));
    await Promise.all(chosen.map((victim) => victim.kill9()));
    for (const victim of chosen) await victim.restart();
    await sending;
  }
  await fleet.assertPatchedOnce();
}

/** Everybody has his turn; who goes with him is chance. In the order of the list, as they must be started again. */
export function choose(victims: readonly Victim[], kill: number, together: number, random: Random): Victim[] {
  const chosen = new Set([victims[kill % victims.length]]);
  for (let count = random.below(together); count > 0; count--) chosen.add(random.pick(victims));
  return victims.filter((victim) => chosen.has(victim));
}
