/** What seeds with sets have in addition: a policy that changes a sidecar alongside its own image, and workloads that run both. */
import { imageOfCommit, type StoredImage } from './image-content.ts';
import { pair, sidecar } from './images.ts';
import type { Random } from './random.ts';
import type { Registry } from './registry.ts';
import { kinds, policyNamespace, resources, type PolicySetup, type WorkloadSetup } from './setup.ts';

export interface Sets {
  readonly workloads: readonly WorkloadSetup[];
  readonly policy: PolicySetup;
}

const share = 0.25;

/** Draws them: in some of all seeds. */
export function drawSets(random: Random): Sets | undefined {
  if (!random.chance(share)) return undefined;
  const follows = random.chance(0.3) ? 'latest' : undefined;
  const match = follows !== undefined || random.chance(0.3) ? 'SameRevision' : 'SameTag';
  const pin = follows === undefined && random.chance(0.5) ? 'Tag' : 'Digest';
  const written = (repository: string, { digest }: StoredImage) =>
    `${repository}:${follows ?? '1.0.0'}${pin === 'Digest' ? `@${digest}` : ''}`;
  const images = { pair: written(pair, ownImage(0)), sidecar: written(sidecar, sidecarImage(0)) };
  const workloads = Array.from({ length: random.pick([1, 1, 2]) }, (_, index): WorkloadSetup => {
    const kind = random.pick(kinds);
    return { kind, resource: `apps/v1/${resources[kind]}`, namespace: policyNamespace, name: `pair${index}`, images };
  });
  const rollout = random.pick([{ watch: true, onFailure: 'Rollback' }, { watch: true, onFailure: 'Hold' }, { watch: false }]);
  const policy: PolicySetup = {
    name: 'pair',
    repository: pair,
    container: 'pair',
    ...(follows !== undefined && { follows }),
    alongside: { repository: sidecar, container: 'sidecar' },
    spec: {
      image: pair,
      select: follows === undefined ? { semver: { range: '>=0.1.0' } } : { digest: { tag: follows } },
      alongside: { images: [{ image: sidecar }], match, within: random.pick(['1s', '5s', '20s']) },
      targets: workloads.map(({ kind, name }) => ({ kind, name, containers: ['pair'] })),
      update: { mode: random.chance(0.15) ? 'Approval' : 'Automatic', pin },
      poll: { interval: random.pick(['1h', '30s']) },
      rollout,
    },
  };
  return { workloads, policy };
}

/** Pushes what the workloads run at first. */
export function furnishSets(registry: Registry, { follows, alongside }: PolicySetup): void {
  if (alongside === undefined) return;
  registry.push(pair, follows ?? '1.0.0', ownImage(0), 0);
  registry.push(alongside.repository, follows ?? '1.0.0', sidecarImage(0), 0);
}

/** Where the numbers of the images of a set begin. */
const [ownImages, sidecars] = [6_000, 7_000];
/** How many images of the sidecar a commit may have. */
const builds = 10;

/** The own image of a commit. */
export function ownImage(commit: number): StoredImage {
  return imageOfCommit(ownImages + commit * builds, commit);
}

/** An image of the sidecar of a commit. A later build of the same commit is another image. */
export function sidecarImage(commit: number, build = 0): StoredImage {
  return imageOfCommit(sidecars + commit * builds + build, commit);
}

/** The commit of an image of a set, by its number. */
export function commitOf(number: number): number {
  return Math.floor((number % 1_000) / builds);
}
