/** What seeds with rules about vulnerabilities have in addition: a policy with them, its workloads, and trouble at the source of evidence. */
import type { RuleSeverity } from '../../src/core/model/vulnerabilities.ts';
import { imageOf } from './image-content.ts';
import { scanned } from './images.ts';
import type { TroubleKind } from './network.ts';
import type { Operation } from './operation.ts';
import type { Random } from './random.ts';
import { kinds, policyNamespace, resources, type PolicySetup, type WorkloadSetup } from './setup.ts';

/** What a policy demands, for invariants. */
export interface ScanRules {
  readonly minAgeMs?: number;
  /** Whether an image waits for the first window, which opens a minute after the start. */
  readonly hasWindow: boolean;
  readonly notMoreThanRunning?: RuleSeverity;
  /** What an image must fix to skip a wait. */
  readonly fixes: RuleSeverity;
}

export interface Scanned {
  readonly workloads: readonly WorkloadSetup[];
  readonly policy: PolicySetup;
}

const share = 0.3;
const container = 'scanned';
const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
/** Runs start at noon. */
const windows = [{ days, from: '12:01', to: '23:59', timeZone: 'UTC' }];
/** When the window opens, in ms after the start. */
export const windowOpensMs = 60_000;

/** Draws it: in some of all seeds. */
export function drawScanned(random: Random): Scanned | undefined {
  if (!random.chance(share)) return undefined;
  const image = `${scanned}:1.0.0@${imageOf(0).digest}`;
  const workloads = Array.from({ length: random.pick([1, 1, 2, 3]) }, (_, index): WorkloadSetup => {
    const kind = random.pick(kinds);
    const resource = `apps/v1/${resources[kind]}`;
    return { kind, resource, namespace: policyNamespace, name: `${container}${index}`, images: { [container]: image } };
  });
  const seconds = random.pick([undefined, 10, 25, 60]);
  const hasWindow = random.chance(0.3);
  const level = random.pick([undefined, 'High', 'Critical'] as const);
  const fixes = random.pick(['High', 'Critical'] as const);
  const scans: ScanRules = {
    hasWindow,
    fixes,
    ...(seconds !== undefined && { minAgeMs: seconds * 1_000 }),
    ...(level !== undefined && { notMoreThanRunning: level }),
  };
  const policy: PolicySetup = {
    name: container,
    repository: scanned,
    container,
    scans,
    spec: {
      image: scanned,
      poll: { interval: random.pick(['1h', '1h', '30s']) },
      select: { semver: { range: '>=0.1.0' } },
      targets: workloads.map(({ kind, name }) => ({ kind, name, containers: [container] })),
      ...(seconds !== undefined && { minAge: `${seconds}s`, minAgeUnless: { fixes } }),
      update: { mode: 'Automatic', pin: 'Digest', ...(hasWindow && { windows, windowsUnless: { fixes } }) },
      verify: { vulnerabilities: { harbor: true, ...(level !== undefined && { notMoreThanRunning: level }) } },
      rollout: random.pick([{ watch: true, onFailure: 'Rollback' }, { watch: true, onFailure: 'Hold' }, { watch: false }]),
    },
  };
  return { workloads, policy };
}

/** Draws trouble at the source of evidence. */
export function drawScanOperations(
  random: Random,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Operation[] {
  return Array.from({ length: random.integer(0, 3) }, () => {
    const kind: TroubleKind = random.pick(['slow', 'refused', 'lost']);
    const [at, forMs, ofAll] = [random.between(firstMs, lastMs), random.between(1_000, 20_000), random.pick([0.5, 1])];
    return {
      at,
      name: 'trouble at the source of evidence',
      run({ clock, network, story }) {
        story.tell('fault', `${ofAll * 100} % of requests for evidence are ${kind} for ${(forMs / 1_000).toFixed(1)} s`);
        network.add({ from: clock.now(), until: clock.now() + forMs, server: 'scanner', kind, share: ofAll });
      },
    };
  });
}
