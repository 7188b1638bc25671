/** Sixty-one applications in a registry, and the base that fifty-one of them are built on. */
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { digestOf } from '../../harness/push-image.ts';
import { attest, type Build, buildImage, type Built, formats, provenanceOf } from './build-image.ts';

export const basePath = 'library/base-java';
/** When the version with the tag 21 was created. */
export const baseCreated = '2026-03-01T12:00:00.000Z';
type Versions = Readonly<Record<'old' | 'new' | 'gone', Built>>;

export interface Pushed {
  /** `new` has the tag 21, `old` the tag 21.0.1, and `gone` has lost its tag. */
  readonly versions: Versions;
  readonly applications: readonly { readonly name: string; readonly path: string; readonly digest: string; readonly expected: string }[];
}

/** Pushes the versions of the base, and all applications under the tag 1. */
export async function pushApplications(host: string): Promise<Pushed> {
  const push = (tag: string, layers: string, created?: string) =>
    buildImage({ host, repository: basePath, tag }, { layers, ...(created !== undefined && { created }) });
  const versions = {
    gone: await push('21', 'os java0'),
    old: await push('21.0.1', 'os java1'),
    new: await push('21', 'os java2', baseCreated),
  };
  const pushed = await inParallel(plans(host, versions), 8, async ({ name, expected, build, attested }) => {
    const target = { host, repository: `shop/${name}`, tag: '1' };
    const { digest } = await buildImage(target, build);
    if (attested !== undefined)
      await attest(target, digest, provenanceOf(digest, [{ uri: `oci://${host}/${basePath}`, digest: attested }], 'v1'));
    return { name, path: target.repository, digest, expected };
  });
  const applications = pushed.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  return { versions, applications };
}

const topLayer = (names: string, platform: string) => digestOf(Buffer.from(`${names.split(' ').at(-1)} for ${platform}`));

interface Plan {
  readonly name: string;
  readonly expected: string;
  readonly build: Build;
  /** The base that a referrer names. */
  readonly attested?: string;
}

/** Fifty applications on the base, in each of the ways in which an image shows it, and ten others. */
function plans(host: string, versions: Versions): Plan[] {
  const name = `${host}/${basePath}`;
  const ways: ((
    version: Built,
    layers: string,
  ) => { readonly by: string; readonly build: Omit<Build, 'layers'>; readonly attested?: string })[] = [
    () => ({ by: 'Layers', build: {} }),
    () => ({ by: 'Layers', build: { format: formats.docker, platforms: ['linux/amd64'] } }),
    ({ digest }) => ({ by: 'Annotation', build: { indexAnnotations: named(name, digest) } }),
    ({ manifests }) => ({ by: 'Annotation', build: { annotations: (platform) => named(name, manifests[platform] ?? '') } }),
    ({ digest }) => ({ by: 'Annotation', build: { format: formats.docker, labels: () => named(name, digest) } }),
    (_, layers) => ({ by: 'Buildpacks', build: { labels: (platform) => packed(topLayer(layers, platform)) } }),
    ({ digest }) => ({ by: 'Provenance', build: { statements: (own) => [provenanceOf(own, [{ uri: `pkg:docker/${name}@21`, digest }])] } }),
    ({ digest }) => ({ by: 'Provenance', build: {}, attested: digest }),
    // Labels that the base inherits from its own base.
    () => ({ by: 'Layers', build: { labels: () => named('docker.io/library/ubuntu:24.04', digestOf(Buffer.from('ubuntu'))) } }),
    // An annotation with a digest of this base that the registry does not have.
    () => ({ by: 'Layers', build: { indexAnnotations: named(name, digestOf(Buffer.from('never pushed'))) } }),
  ];
  const onBase = Array.from({ length: 50 }, (_, index): Plan => {
    const isNew = index % 2 === (index < 25 ? 0 : 1);
    const [version, layers] = isNew ? [versions.new, 'os java2'] : [versions.old, 'os java1'];
    const { by, build, attested } = ways[index % ways.length]?.(version, layers) ?? { by: '', build: {} };
    const expected = `${isNew ? 'Current' : 'Behind'} by ${by}`;
    return {
      name: `app-${index}`,
      expected,
      build: { layers: `${layers} app-${index}`, ...build },
      ...(attested !== undefined && { attested }),
    };
  });
  const others = Array.from({ length: 10 }, (_, index): Plan => {
    const isWrong = index % 5 === 4;
    const builds: Omit<Build, 'layers'>[] = [
      {},
      { platforms: ['linux/amd64'] },
      { labels: () => named('docker.io/library/ubuntu', digestOf(Buffer.from('ubuntu'))) },
      { statements: (own) => [provenanceOf(own, [{ uri: `pkg:docker/${name}@21`, digest: versions.new.digest }])] },
    ];
    const build = isWrong ? { indexAnnotations: named(name, versions.old.digest) } : builds[index % 5];
    // The first five begin with the lowest layer of the base, so that they may be built on a version that nobody knows.
    const lowest = index < 5 ? 'os' : 'alpine';
    const expected = isWrong || index < 5 ? 'Unknown' : 'unrelated';
    return { name: `other-${index}`, expected, build: { layers: `${lowest} other-${index}`, ...build } };
  });
  const gone = versions.gone.digest;
  const untagged: Plan = {
    name: 'untagged',
    expected: 'Behind by Annotation',
    build: { layers: 'os java0 app', indexAnnotations: named(name, gone) },
  };
  return [...onBase, ...others, untagged];
}

function named(name: string, digest: string) {
  return { 'org.opencontainers.image.base.name': name, 'org.opencontainers.image.base.digest': digest };
}

function packed(topLayer: string) {
  return { 'io.buildpacks.lifecycle.metadata': JSON.stringify({ runImage: { topLayer, image: 'example.com/run' } }) };
}
