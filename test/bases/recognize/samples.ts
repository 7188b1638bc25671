/** Images and bases for tests: name only what matters. */
import { createHash } from 'node:crypto';
import type { BuildFacts, NamedBase, PlatformFacts } from '../../../src/bases/recognize/facts.ts';
import { knownBase, type KnownBase } from '../../../src/bases/recognize/layers.ts';

export const repository = 'harbor.example.com/library/base-java';
export const other = 'docker.io/library/ubuntu';
/** The archive without files. */
export const emptyLayer = 'sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef';

/** The digest of a name. */
export function digestFor(name: string): string {
  return `sha256:${createHash('sha256').update(name).digest('hex')}`;
}

/** The diff ids of layers by their names, separated by spaces: `os java`. Those of another platform have other names. */
export function chain(names: string): string[] {
  return names.split(' ').flatMap((name) => (name === '' ? [] : name === 'empty' ? emptyLayer : digestFor(name)));
}

export interface SampleImage {
  readonly name?: string;
  /** By platform, the layers; `?`: the configuration cannot be read. */
  readonly layers: Readonly<Record<string, string>>;
  readonly named?: readonly NamedBase[];
}

/** The facts about an image; the digests of its manifests are those of `name platform`. */
export function image({ name = 'app', layers, named = [] }: SampleImage): BuildFacts {
  const platforms = Object.entries(layers).map(([platform, names]): PlatformFacts => ({
    platform,
    digest: digestFor(`${name} ${platform}`),
    ...(names !== '?' && { diffIds: chain(names) }),
    named,
  }));
  return { digest: digestFor(name), platforms };
}

/** A version of the base; its digest is that of its tag. */
export function base(tag: string, layers: Readonly<Record<string, string>>): KnownBase {
  return knownBase(image({ name: tag, layers }), { repository, tags: [tag] });
}
