/** Compares an image that was rebased with the one that a build on the new base would make. */
import assert from 'node:assert/strict';
import type { Version } from './bases.ts';
import type { Application } from './fleet.ts';
import { writeImage } from './oci-layout.ts';
import { inLayout, inRegistry, readRaw, unpack, type Config } from './skopeo.ts';

const baseDigest = 'org.opencontainers.image.base.digest';

/** Asserts that an image has the files and the configuration of a build on this version, on each platform, and names the version as its base. */
export async function assertBuiltAnew(image: string, { name, build }: Pick<Application, 'name' | 'build'>, base: Version): Promise<void> {
  const { image: anew } = build(name, base);
  const layout = writeImage(anew);
  const { annotations } = await readRaw(image);
  for (const platform of anew.platforms) {
    const [found, expected] = await Promise.all([unpack(inRegistry(image), platform), unpack(inLayout(layout), platform)]);
    const what = `${name} for ${platform}, on ${base.tag}`;
    assert.deepEqual(found.files, expected.files, what);
    assert.deepEqual(withoutNames(found.config), withoutNames(expected.config), what);
    assert.equal(annotations?.[baseDigest] ?? found.config.config.Labels?.[baseDigest], base.layout.digest, what);
  }
}

/** The configuration without the labels that say what it was built on. */
function withoutNames({ config, ...rest }: Config): object {
  const own = Object.entries(config.Labels ?? {}).filter(
    ([name]) => !/^(?:org\.opencontainers\.image\.base|operator\.technomad\.dev)[./]/.test(name),
  );
  return { ...rest, config: { ...config, Labels: Object.fromEntries(own) } };
}
