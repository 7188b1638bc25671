/** What seeds with two environments have in addition: a policy for staging, one for production that follows it, and outages of what staging runs. */
import { imageOf } from './image-content.ts';
import { store } from './images.ts';
import type { Operation } from './operation.ts';
import type { Random } from './random.ts';
import { kinds, policyNamespace, resources, type PolicySetup, type WorkloadSetup } from './setup.ts';

/** Staging, and production. */
export interface Environments {
  readonly workloads: readonly WorkloadSetup[];
  readonly policies: readonly PolicySetup[];
}

const share = 0.3;
const allVersions = { semver: { range: '>=0.1.0' } };

/** Draws them: in some of all seeds. */
export function drawEnvironments(random: Random): Environments | undefined {
  if (!random.chance(share)) return undefined;
  const follows = random.chance(0.3) ? 'latest' : undefined;
  const first = `${store}:${follows ?? '1.0.0'}@${imageOf(0).digest}`;
  const [staged, live] = [drawWorkloads('staging', first, random), drawWorkloads('production', first, random)];
  const seconds = random.pick([0, 2, 5, 15]);
  const after = { policies: [{ name: 'staging' }], ...(seconds > 0 && { for: `${seconds}s` }) };
  const common = { image: store, poll: { interval: random.pick(['1h', '30s']) } };
  const onFailure = random.pick(['Rollback', 'Rollback', 'Hold']);
  const staging: PolicySetup = {
    name: 'staging',
    repository: store,
    container: 'staging',
    ...(follows !== undefined && { follows }),
    spec: {
      ...common,
      select: follows === undefined ? allVersions : { digest: { tag: follows } },
      targets: targetsOf('staging', staged),
      update: { mode: 'Automatic', pin: 'Digest' },
      rollout: { watch: true, onFailure },
    },
  };
  // A policy that selects for itself waits for the same; one that follows a tag would skip what staging has proven.
  const selects = follows === undefined && random.chance(0.5);
  const mode = random.chance(0.1) ? 'Approval' : 'Automatic';
  const production: PolicySetup = {
    name: 'production',
    repository: store,
    container: 'production',
    after: { policy: 'staging', forMs: seconds * 1_000 },
    spec: {
      ...common,
      select: selects ? allVersions : { proven: after },
      targets: targetsOf('production', live),
      update: { mode, ...(selects && { after, ...random.pick([{}, { pin: 'Digest' }]) }) },
      rollout: random.pick([{ watch: true, onFailure: 'Rollback' }, { watch: true, onFailure: 'Hold' }, { watch: false }]),
    },
  };
  return { workloads: [...staged, ...live], policies: [staging, production] };
}

function drawWorkloads(container: string, image: string, random: Random): WorkloadSetup[] {
  return Array.from({ length: random.pick([1, 1, 2]) }, (_, index): WorkloadSetup => {
    const kind = random.pick(kinds);
    const resource = `apps/v1/${resources[kind]}`;
    return { kind, resource, namespace: policyNamespace, name: `${container}${index}`, images: { [container]: image } };
  });
}

function targetsOf(container: string, workloads: readonly WorkloadSetup[]) {
  return workloads.map(({ kind, name }) => ({ kind, name, containers: [container] }));
}

/** Draws outages: the pods of a staged workload are unavailable for some time, and run what they ran. */
export function drawOutages(
  random: Random,
  { workloads }: Environments,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Operation[] {
  const staged = workloads.filter(({ images }) => images['staging'] !== undefined);
  return Array.from({ length: random.integer(0, 4) }, () => {
    const [target, at, forMs] = [random.pick(staged), random.between(firstMs, lastMs), random.between(500, 6_000)];
    return {
      at,
      name: 'outage',
      run({ story, controllers }) {
        story.tell('fault', `makes the pods of ${target.name} unavailable for ${(forMs / 1_000).toFixed(1)} s`);
        controllers.disturb(target, forMs);
      },
    };
  });
}
