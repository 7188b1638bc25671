/** What seeds with checks have in addition: a policy whose images checks have a veto on, an endpoint in trouble, and processes that die when it has answered. */
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { checkPhases } from '../../src/core/model/rollout-check.ts';
import { fieldsOf, isObject } from '../../src/core/model/untyped.ts';
import { checksSecret, endpointUrl } from './check-endpoint.ts';
import { imageOf } from './image-content.ts';
import { guarded } from './images.ts';
import type { TroubleKind } from './network.ts';
import type { Operation } from './operation.ts';
import type { Random } from './random.ts';
import { kinds, policyNamespace, resources, type PolicySetup, type WorkloadSetup } from './setup.ts';
import { policies, policyNow, type World } from './world.ts';

/** The policy with checks, and its workloads. */
export interface Checked {
  readonly workloads: readonly WorkloadSetup[];
  readonly policy: PolicySetup;
}

const share = 0.3;
const container = 'guarded';

/** Draws it: in some of all seeds. */
export function drawChecks(random: Random): Checked | undefined {
  if (!random.chance(share)) return undefined;
  const follows = random.chance(0.3) ? 'latest' : undefined;
  const pin = follows === undefined && random.chance(0.5) ? 'Tag' : 'Digest';
  const image = `${guarded}:${follows ?? '1.0.0'}${pin === 'Digest' ? `@${imageOf(0).digest}` : ''}`;
  const workloads = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index): WorkloadSetup => {
    const kind = random.pick(kinds);
    return {
      kind,
      resource: `apps/v1/${resources[kind]}`,
      namespace: policyNamespace,
      name: `${container}${index}`,
      images: { [container]: image },
    };
  });
  const checks = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index) => drawCheck(index, random));
  const waves = random.chance(0.3) && { waves: { maxParallel: 1, pause: random.pick(['1s', '5s']) } };
  const policy: PolicySetup = {
    name: container,
    repository: guarded,
    container,
    ...(follows !== undefined && { follows }),
    hasChecks: true,
    spec: {
      image: guarded,
      poll: { interval: random.pick(['1h', '1h', '30s']) },
      select: follows === undefined ? { semver: { range: '>=0.1.0' } } : { digest: { tag: follows } },
      targets: workloads.map(({ kind, name }) => ({ kind, name, containers: [container] })),
      update: { mode: random.chance(0.1) ? 'Approval' : 'Automatic', pin },
      // No controller gives up a DaemonSet or a StatefulSet, and checks are asked as long as it rolls out.
      rollout: { watch: true, timeout: '2m', onFailure: random.pick(['Rollback', 'Rollback', 'Hold']), ...waves, checks },
    },
  };
  return { workloads, policy };
}

function drawCheck(index: number, random: Random) {
  const phase = random.pick(checkPhases);
  return {
    name: `${phase}-${index}`,
    phase,
    every: random.pick(['1s', '2s', '5s']),
    timeout: random.pick(['10s', '20s', '60s']),
    retries: random.pick([0, 0, 1]),
    ...(phase !== 'during' && random.chance(0.3) && { for: '3s' }),
    http: { url: endpointUrl, secretRef: checksSecret },
  };
}

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly withPeople: boolean;
}

/** Draws what happens to checks. */
export function drawCheckOperations(random: Random, { firstMs, lastMs, withPeople }: Span): Operation[] {
  const draw = (most: number, one: (at: number) => Operation) =>
    Array.from({ length: random.integer(0, most) }, () => one(random.between(firstMs, lastMs)));
  return [
    ...draw(3, (at) => drawTrouble(at, random)),
    ...draw(4, (at) => drawAmbush(at, random)),
    ...(withPeople ? [...draw(2, (at) => drawEdit(at, random)), ...draw(1, release)] : []),
  ];
}

function drawTrouble(at: number, random: Random): Operation {
  const kind: TroubleKind = random.pick(['slow', 'refused', 'throttled', 'lost']);
  const [forMs, ofAll] = [random.between(1_000, 15_000), random.pick([0.5, 1])];
  return {
    at,
    name: 'trouble at an endpoint',
    run({ clock, network, story }) {
      story.tell('fault', `${ofAll * 100} % of requests at the endpoint are ${kind} for ${(forMs / 1_000).toFixed(1)} s`);
      network.add({ from: clock.now(), until: clock.now() + forMs, server: 'endpoint', kind, share: ofAll });
    },
  };
}

/** Whoever asks next dies, stands still, or hears nothing more of policies: before it hears the answer, before it has written what follows from it, or after that. */
function drawAmbush(at: number, random: Random): Operation {
  const ambush = {
    kind: random.pick(['kill', 'kill', 'freeze', 'deafen'] as const),
    afterMs: random.between(0, 50),
    forMs: random.between(50, 8_000),
  };
  return { at, name: 'the end of whoever asks', run: ({ endpoint }) => endpoint.waylay(ambush) };
}

/** Another number of retries, or none of these: each makes the check another one. */
function drawEdit(at: number, random: Random): Operation {
  const [retries, choice] = [random.integer(0, 2), random.next()];
  return {
    at,
    name: 'edit a check',
    run: (world) =>
      edit(world, (spec) => {
        const rollout = fieldsOf(spec['rollout']);
        const checks = Array.isArray(rollout['checks']) ? rollout['checks'].filter(isObject) : [];
        const changed = Math.floor(choice * checks.length);
        world.story.tell('person', `edits check ${String(checks[changed]?.['name'])}: retries ${retries}`);
        return { ...spec, rollout: { ...rollout, checks: checks.map((one, index) => (index === changed ? { ...one, retries } : one)) } };
      }),
  };
}

function edit(world: World, change: (spec: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>): void {
  if (policyNow(world, container) === undefined) return;
  world.hasInterference = true;
  const place = { resource: policies, namespace: policyNamespace, name: container, by: 'kubectl-edit' };
  world.server.edit(place, (policy) => ({ ...policy, spec: change(policy.spec) }));
}

function release(at: number): Operation {
  return {
    at,
    name: 'release',
    run(world) {
      if (policyNow(world, container) === undefined) return;
      world.hasInterference = true;
      world.story.tell('person', `releases policy ${container}`);
      const value = new Date(world.clock.now()).toISOString();
      const place = { resource: policies, namespace: policyNamespace, name: container, by: 'kubectl-annotate' };
      world.server.edit(place, (policy) => {
        const annotations = { ...policy.metadata.annotations, [actionAnnotations.release]: value };
        return { ...policy, metadata: { ...policy.metadata, annotations } };
      });
    },
  };
}
