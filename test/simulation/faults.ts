/** What goes wrong: processes, connections, servers. */
import type { OperationKind } from './operation.ts';
import type { Server, Trouble, TroubleKind } from './network.ts';
import { kill } from './process.ts';
import { otherNamespace, type Setup } from './setup.ts';
import type { World } from './world.ts';

/** Every kind, in a list. */
export const faults: readonly OperationKind[] = [
  {
    name: 'crash',
    weight: 3,
    draw(random, { replicas }) {
      const name = random.pick(replicas);
      const awayMs = random.between(50, 3_000);
      return (world) => {
        const replica = world.replicas.get(name);
        if (replica === undefined || replica.process.isDead) return;
        world.story.tell('fault', `kills ${name}, which starts again after ${seconds(awayMs)}`);
        kill(replica.process);
        world.clock.schedule(undefined, awayMs, () => world.start(name));
      };
    },
  },
  {
    name: 'freeze',
    weight: 3,
    draw(random, { replicas }) {
      const [name, forMs] = [random.pick(replicas), random.between(300, 12_000)];
      return (world) => {
        const replica = world.replicas.get(name);
        if (replica === undefined) return;
        world.story.tell('fault', `freezes ${name} for ${seconds(forMs)}`);
        replica.process.frozenUntil = world.clock.now() + forMs;
      };
    },
  },
  {
    name: 'rolling restart',
    weight: 1,
    draw: () => (world) => {
      world.story.tell('fault', 'restarts all replicas, one after the other');
      [...world.replicas.keys()].forEach((name, index) => world.clock.schedule(undefined, index * 1_500, () => world.start(name)));
    },
  },
  {
    name: 'rolling upgrade',
    weight: 0.5,
    draw: (random) => {
      const gapMs = random.between(500, 8_000);
      return (world) => {
        world.story.tell('fault', `restarts all replicas, one after the other, with crossNamespace: deny`);
        if (hasForeign(world.setup)) world.hasInterference = true;
        [...world.replicas.keys()].forEach((name, index) =>
          world.clock.schedule(undefined, index * gapMs, () => {
            world.versions.set(name, 'newer');
            world.start(name);
          }),
        );
      };
    },
  },
  {
    name: 'clock skew',
    weight: 1,
    draw(random, { replicas }) {
      const [name, skewMs] = [random.pick(replicas), random.pick([-60_000, -5_000, -800, 800, 5_000, 60_000])];
      return (world) => {
        const replica = world.replicas.get(name);
        if (replica === undefined) return;
        world.story.tell('fault', `sets the clock of ${name} ${seconds(skewMs)} ahead`);
        replica.process.skewMs = skewMs;
        world.hasSetClock = true;
      };
    },
  },
  {
    name: 'silent watch',
    weight: 4,
    draw(random, { replicas, workloads }) {
      const resource = random.pick(['operator.technomad.dev/v1/imagepolicies', random.pick(workloads).resource, 'v1/namespaces']);
      const [name, forMs] = [random.pick(replicas), random.between(2_000, 25_000)];
      return (world) => {
        world.story.tell('fault', `silences the watch of ${resource.split('/').at(-1)} of ${name} for ${seconds(forMs)}`);
        world.replicas.get(name)?.watches.silence(resource, forMs);
      };
    },
  },
  {
    name: 'late watches',
    weight: 2,
    draw(random, { replicas }) {
      const [process, forMs] = [random.pick(replicas), random.between(1_000, 15_000)];
      return (world) => trouble(world, { process, server: 'api', only: 'WATCH', kind: 'slow', share: 0.5 }, forMs);
    },
  },
  {
    name: 'compaction',
    weight: 1,
    draw: () => (world) => {
      world.story.tell('fault', 'compacts etcd, and breaks all watches');
      world.server.compact();
      for (const { watches } of world.replicas.values()) watches.breakAll();
    },
  },
  {
    name: 'trouble at the API server',
    weight: 6,
    draw(random, { replicas }) {
      const only = random.pick(['PATCH status', 'PATCH status', 'PATCH', 'PATCH deployments', 'GET', '']);
      return drawTrouble(
        random.pick([undefined, ...replicas]),
        'api',
        only,
        random.pick(['slow', 'refused', 'throttled', 'lost']),
        random.between(500, 12_000),
        random.pick([0.3, 0.7, 1]),
      );
    },
  },
  {
    name: 'trouble at the registry',
    weight: 3,
    draw: (random, { replicas }) =>
      drawTrouble(
        random.pick([undefined, ...replicas]),
        'registry',
        '',
        random.pick(['slow', 'slow', 'refused', 'throttled', 'lost']),
        random.between(500, 10_000),
        random.pick([0.3, 1]),
      ),
  },
  {
    name: 'trouble with Redis',
    weight: 2,
    draw: (random, { replicas }) =>
      drawTrouble(
        random.pick([undefined, ...replicas]),
        'redis',
        '',
        random.pick(['slow', 'lost']),
        random.between(500, 5_000),
        random.pick([0.3, 1]),
      ),
  },
  {
    name: 'wiped Redis',
    weight: 0.5,
    draw: () => (world) => {
      world.story.tell('fault', 'wipes Redis');
      world.wipedAt = world.clock.now();
      world.queue.wipe();
      world.records.wipe();
      world.facts.wipe();
      if (world.bases !== undefined) world.bases.mayBeUnknown = true;
    },
  },
];

/** Whether anything depends on the consent of another namespace. */
export function hasForeign({ workloads, sources = [] }: Setup): boolean {
  return sources.includes(otherNamespace) || workloads.some(({ namespace }) => namespace === otherNamespace);
}

function drawTrouble(
  process: string | undefined,
  server: Server,
  only: string,
  kind: TroubleKind,
  forMs: number,
  share: number,
): (world: World) => void {
  return (world) => trouble(world, { ...(process !== undefined && { process }), server, only, kind, share }, forMs);
}

function trouble(world: World, { process, ...rest }: Omit<Trouble, 'from' | 'until'>, forMs: number): void {
  const from = world.clock.now();
  const { only, server, kind, share } = rest;
  world.story.tell(
    'fault',
    `${Math.round(share * 100)} % of ${process ?? 'all'}'s ${only || 'requests'} at ${server} are ${kind} for ${seconds(forMs)}`,
  );
  world.network.add({ from, until: from + forMs, ...(process !== undefined && { process }), ...rest });
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
