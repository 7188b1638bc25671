/** What happens in seeds with a BaseImagePolicy, in addition: bases are pushed, applications rebuilt, and people and faults meet the policy. */
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { appLabel, base, basePolicyName, labelsOf, type BaseSetup } from './base-setup.ts';
import { basePolicies, basePolicyNow, createBasePolicy, type BaseWorld } from './base-world.ts';
import { appImage, baseImage, type StoredImage } from './image-content.ts';
import { shorten } from './images.ts';
import type { Operation } from './operation.ts';
import { announce } from './pushes.ts';
import type { Random } from './random.ts';
import { otherNamespace, policyNamespace, type Setup } from './setup.ts';
import { alwaysPulled, createWorkload, type World } from './world.ts';

/** As `OperationKind`, with the bases. */
interface BaseOperationKind {
  readonly name: string;
  readonly weight: number;
  readonly draw: (
    random: Random,
    setup: BaseSetup,
    replicas: readonly string[],
    number: number,
  ) => (world: World, bases: BaseWorld) => void;
}

interface Push {
  readonly repository: string;
  readonly tag: string;
  readonly image: StoredImage;
  readonly lagMs: number;
  readonly isAnnounced: boolean;
  readonly hasDigest: boolean;
}

function pushImage(world: World, bases: BaseWorld, { repository, tag, image, lagMs, isAnnounced, hasDigest }: Push): void {
  const { registry, story, clock } = world;
  const { digest } = image;
  story.tell('registry', `gets ${shorten(`${repository}:${tag}@${digest}`)}${isAnnounced ? '' : ', and announces nothing'}`);
  registry.push(repository, tag, image, lagMs);
  if (!isAnnounced) bases.mayBeUnknown = true;
  else clock.schedule(undefined, 1, () => announce(world, { repository, tag, digest, hasDigest, key: digest }));
}

const pushed = (random: Random) => ({
  lagMs: random.chance(0.7) ? 0 : random.between(5, 4_000),
  isAnnounced: random.chance(0.95),
  hasDigest: random.chance(0.7),
});

const registryKinds: readonly BaseOperationKind[] = [
  {
    name: 'push of a base',
    weight: 3,
    draw(random, { follows, rebuilt: moves }, _replicas, number) {
      const isOld = follows === undefined && random.chance(0.15);
      const tag = follows ?? `${isOld ? '0.9' : '1.0'}.${number}`;
      const [plan, rebuilt] = [pushed(random), pushed(random)];
      const rebuildMs = moves !== undefined && !isOld && random.chance(0.85) ? random.between(500, 8_000) : undefined;
      return (world, bases) => {
        pushImage(world, bases, { repository: base, tag, image: baseImage(number), ...plan });
        if (isOld) return;
        bases.newest = number;
        if (moves === undefined || rebuildMs === undefined) return;
        const image = appImage(number, number, base);
        world.clock.schedule(undefined, rebuildMs, () => pushImage(world, bases, { ...moves, image, ...rebuilt }));
      };
    },
  },
  {
    name: 'push of the application',
    weight: 1,
    draw(random, { rebuilt }, _replicas, number) {
      const plan = pushed(random);
      return (world, bases) => {
        // A version that nobody deploys changes nothing.
        if (rebuilt === undefined) return;
        pushImage(world, bases, { ...rebuilt, image: appImage(number, bases.newest, base), ...plan });
      };
    },
  },
];

const faultKinds: readonly BaseOperationKind[] = [
  {
    name: 'silent watch of base policies',
    weight: 1,
    draw(random, _setup, replicas) {
      const [name, forMs] = [random.pick(replicas), random.between(2_000, 25_000)];
      return (world) => {
        world.story.tell('fault', `silences the watch of baseimagepolicies of ${name} for ${(forMs / 1_000).toFixed(1)} s`);
        world.replicas.get(name)?.watches.silence(basePolicies, forMs);
      };
    },
  },
  {
    name: 'slow registry',
    weight: 1,
    draw(random) {
      const [forMs, kind] = [random.between(1_000, 8_000), random.pick(['slow', 'lost', 'refused', 'throttled'] as const)];
      const only = random.pick(['GET manifest', 'GET blob', 'PUT manifest', 'PUT blob', 'HEAD']);
      return ({ story, network, clock }) => {
        story.tell('fault', `all ${only} at the registry are ${kind} for ${(forMs / 1_000).toFixed(1)} s`);
        network.add({ from: clock.now(), until: clock.now() + forMs, server: 'registry', only, kind, share: 1 });
      };
    },
  },
];

const peopleKinds: readonly BaseOperationKind[] = [
  {
    name: 'suspend or resume the base policy',
    weight: 4,
    draw: () => (world) => {
      const policy = basePolicyNow(world.server);
      if (policy === undefined) return;
      const suspend = policy.spec['suspend'] !== true;
      world.story.tell('person', suspend ? 'suspends the base policy' : 'resumes the base policy');
      world.server.edit({ resource: basePolicies, namespace: policyNamespace, name: basePolicyName, by: 'kubectl-edit' }, (one) => ({
        ...one,
        spec: { ...one.spec, suspend },
      }));
    },
  },
  {
    // The connections die silently, and the API server takes no change of workloads: what is planned then comes when the policy does not want it any more.
    name: 'push of a base, and nobody hears that its policy is suspended or deleted',
    weight: 4,
    draw(random, { workloads, follows, rebuilt }, replicas, number) {
      const image = baseImage(number);
      const now = { lagMs: 0, isAnnounced: true, hasDigest: true };
      const [isDeleted, afterMs, forMs, refusedMs] = [
        random.chance(0.3),
        random.between(500, 3_000),
        random.between(20_000, 40_000),
        random.chance(0.6) ? random.between(8_000, 20_000) : 0,
      ];
      const kinds = new Set(workloads.map(({ resource }) => resource.split('/').at(-1)));
      return (world, bases) => {
        const { clock, network, server, story } = world;
        bases.newest = number;
        pushImage(world, bases, { repository: base, tag: follows ?? `1.0.${number}`, image, ...now });
        if (rebuilt !== undefined) pushImage(world, bases, { ...rebuilt, image: appImage(number, number, base), ...now });
        story.tell('fault', `silences the watches of baseimagepolicies for ${(forMs / 1_000).toFixed(1)} s`);
        for (const name of replicas) world.replicas.get(name)?.watches.silence(basePolicies, forMs);
        const [from, until] = [clock.now(), clock.now() + refusedMs];
        if (refusedMs > 0) story.tell('fault', `all patches of workloads are refused for ${(refusedMs / 1_000).toFixed(1)} s`);
        for (const kind of kinds) network.add({ from, until, server: 'api', only: `PATCH ${kind}`, kind: 'refused', share: 1 });
        clock.schedule(undefined, afterMs, () => {
          if (basePolicyNow(server) === undefined) return;
          // A status that is written shows its writer the policy as it is.
          const trouble = {
            from: clock.now(),
            until: until + 5_000,
            server: 'api',
            only: 'PATCH status',
            kind: 'refused',
            share: 0.9,
          } as const;
          if (refusedMs > 0) network.add(trouble);
          const edit = { resource: basePolicies, namespace: policyNamespace, name: basePolicyName, by: 'kubectl' };
          story.tell('person', isDeleted ? 'deletes the base policy' : 'suspends the base policy');
          if (isDeleted) server.delete(edit);
          else server.edit(edit, (one) => ({ ...one, spec: { ...one.spec, suspend: true } }));
        });
      };
    },
  },
  {
    name: 'delete the base policy, or create it anew',
    weight: 1.5,
    draw: () => (world, bases) => {
      const { server, story } = world;
      if (basePolicyNow(server) === undefined) {
        story.tell('person', 'creates the base policy anew');
        return createBasePolicy(bases.setup, server);
      }
      story.tell('person', 'deletes the base policy');
      server.delete({ resource: basePolicies, namespace: policyNamespace, name: basePolicyName, by: 'kubectl' });
    },
  },
  {
    name: 'relabel a workload of the base policy',
    weight: 3,
    draw(random, { workloads }) {
      const { resource, namespace, name } = random.pick(workloads);
      return ({ server, story }) => {
        if (server.get(resource, namespace, name) === undefined) return;
        server.edit({ resource, namespace, name, by: 'kubectl-label' }, (workload) => {
          const isLabelled = workload.metadata.labels?.['runs'] === appLabel.runs;
          story.tell('person', isLabelled ? `removes the label of ${name}` : `labels ${name} again`);
          const { runs: _, ...labels } = workload.metadata.labels ?? {};
          return { ...workload, metadata: { ...workload.metadata, labels: isLabelled ? labels : { ...labels, ...appLabel } } };
        });
      };
    },
  },
  {
    name: 'give or withdraw the consent of the Namespace of base workloads',
    weight: 2,
    draw: (_random, { workloads }) => {
      const isConcerned = workloads.some(({ namespace }) => namespace === otherNamespace);
      return (world) => {
        if (!isConcerned) return;
        world.hasInterference = true;
        world.server.edit({ resource: 'v1/namespaces', name: otherNamespace, by: 'kubectl-annotate' }, (namespace) => {
          const { [consentAnnotation]: given, ...others } = namespace.metadata.annotations ?? {};
          world.story.tell('person', `${given === undefined ? 'gives' : 'withdraws'} the consent of Namespace ${otherNamespace}`);
          const annotations = given === undefined ? { ...others, [consentAnnotation]: policyNamespace } : others;
          return { ...namespace, metadata: { ...namespace.metadata, annotations } };
        });
      };
    },
  },
  {
    name: 'delete a workload of the base policy, and create it anew',
    weight: 1,
    draw(random, { workloads }) {
      const setup = random.pick(workloads);
      return (world, bases) => {
        const { resource, namespace, name } = setup;
        world.story.tell('person', `deletes ${name}, and creates it anew`);
        if (world.server.get(resource, namespace, name) !== undefined) world.server.delete({ resource, namespace, name, by: 'kubectl' });
        createWorkload(world.server, setup, labelsOf(setup, bases.setup), alwaysPulled);
      };
    },
  },
];

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly withPeople: boolean;
}

/** Draws them. */
export function drawBaseOperations(
  random: Random,
  { replicas }: Setup,
  setup: BaseSetup,
  { firstMs, lastMs, withPeople }: Span,
): Operation[] {
  const operations: Operation[] = [];
  let number = 0;
  for (let at = firstMs + random.between(0, 3_000); at < lastMs; at += random.between(1_000, 7_000)) {
    const share = random.next();
    const kinds = share < 0.5 ? registryKinds : withPeople && share < 0.8 ? peopleKinds : faultKinds;
    const { name, draw } = pickOf(kinds, random);
    const run = draw(random, setup, replicas, ++number);
    operations.push({ at, name, run: (world) => world.bases && run(world, world.bases) });
  }
  return operations;
}

function pickOf(kinds: readonly BaseOperationKind[], random: Random): BaseOperationKind {
  let left = random.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  return kinds.find(({ weight }) => (left -= weight) < 0) ?? random.pick(kinds);
}
