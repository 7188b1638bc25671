/** Random pushes of images and charts to shared and separate repositories, and what senders say of them: right, doubled, late, and wrong. */
import { compare } from 'semver';
import type { Random } from '../../bench/fuzz/random.ts';
import { pushChart, pushImage } from '../harness/push-image.ts';
import { harborBody } from './world.ts';
import { shuffle } from './fleet.ts';

export type Kind = 'Image' | 'Chart';

/** Something that is pushed once, under a version that nothing else in its repository has. */
export interface Artifact {
  readonly repository: string;
  readonly kind: Kind;
  readonly version: string;
}

/** A body for one of the receivers, and the artifact that it is about; undefined for one about what was never pushed. */
export interface Delivery {
  readonly receiver: 'harbor' | 'registry';
  readonly body: string;
  readonly about: Artifact | undefined;
}

/** Which kinds are pushed to which repository. */
export const repositories: Readonly<Record<string, readonly Kind[]>> = {
  'shop/both': ['Image', 'Chart'],
  'shop/web': ['Image'],
  'charts/release': ['Chart'],
};
/** What each repository has at the start. */
export const first: Readonly<Record<Kind, string>> = { Image: '1.0.0', Chart: '1.0.1' };
const names = ['shop/both', 'shop/both', 'shop/web', 'charts/release'] as const;

/** Which of two versions is the higher, as a sort wants it; what is behind an `@` does not count. */
export function compareVersions(a: string, b: string): number {
  return compare(a.split('@')[0] ?? '', b.split('@')[0] ?? '');
}

/** Pushes an artifact; returns its digest. */
export async function push(host: string, { repository, kind, version }: Artifact): Promise<string> {
  // The registry refuses a manifest whose layer is being pushed once more at the same time.
  const target = { host, repository, tag: version, content: `${repository} ${version}` };
  return (await (kind === 'Chart' ? pushChart(target) : pushImage(target))).digest;
}

/**
 * The artifacts of a round. Each repository gets a version of each of its kinds that is higher than all of the rounds before, so that each round has something to
 * apply; the order of the versions within a round is chance.
 */
export function artifactsOfRound(round: number, size: number, random: Random): Artifact[] {
  const versions = shuffle(
    Array.from({ length: size }, (_, index) => `1.${round}.${index}`),
    random.below,
  );
  const sure = Object.entries(repositories).flatMap(([repository, kinds]) => kinds.map((kind) => ({ repository, kind })));
  return versions.map((version, index) => {
    const repository = random.pick(names);
    const kind = random.pick(repositories[repository] ?? []) ?? 'Image';
    return { ...(sure[index] ?? { repository, kind }), version };
  });
}

/** How a sender may describe a push. */
const sayings = ['right', 'right', 'no digest', 'digest of another', 'other kind', 'kind of a signature', 'never pushed'] as const;

/** All that senders say of these artifacts: the truth at least once, more of it and lies at random, in any order. */
export function deliveriesOf(host: string, artifacts: ReadonlyMap<Artifact, string>, random: Random): Delivery[] {
  const all = [...artifacts.keys()];
  const told = all.flatMap((artifact) => {
    const more = Array.from({ length: random.below(3) }, () => random.pick(sayings));
    return (['right', ...more] as const).map((saying) => {
      const other = random.pick(all) ?? artifact;
      return tell(saying, { host, artifact, digest: artifacts.get(artifact) ?? '', otherDigest: artifacts.get(other) ?? '' });
    });
  });
  return shuffle(told, random.below);
}

interface Told {
  readonly host: string;
  readonly artifact: Artifact;
  readonly digest: string;
  readonly otherDigest: string;
}

function tell(saying: (typeof sayings)[number], { host, artifact, digest, otherDigest }: Told): Delivery {
  const { repository, version: tag, kind } = artifact;
  const byHarbor = (resource: { tag: string; digest?: string }): Delivery => ({
    receiver: 'harbor',
    body: harborBody(host, repository, [resource]),
    about: artifact,
  });
  const byRegistry = (references: readonly string[], mediaType: string): Delivery => ({
    receiver: 'registry',
    body: JSON.stringify({
      events: [{ action: 'push', target: { mediaType, repository, tag, digest, references: references.map(typed) }, request: { host } }],
    }),
    about: artifact,
  });
  switch (saying) {
    case 'right':
      return byHarbor({ tag, digest });
    case 'no digest':
      return byHarbor({ tag });
    case 'digest of another':
      return byHarbor({ tag, digest: otherDigest });
    case 'other kind':
      return kind === 'Chart'
        ? byRegistry(['application/vnd.oci.image.config.v1+json'], manifestType)
        : byRegistry([chartConfig], chartConfig);
    case 'kind of a signature':
      return byRegistry(['application/vnd.dev.cosign.simplesigning.v1+json'], manifestType);
    case 'never pushed':
      return { ...byHarbor({ tag: `9${tag}`, digest }), about: undefined };
  }
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const chartConfig = 'application/vnd.cncf.helm.config.v1+json';
const typed = (mediaType: string) => ({ mediaType, digest: `sha256:${'0'.repeat(64)}`, size: 2 });
