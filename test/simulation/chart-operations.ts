/** What people do to HelmRepositories: they point one at other charts, and back, whether or not the replicas hear of it at once. */
import { fieldsOf } from '../../src/core/model/untyped.ts';
import { helmRepositories, sourceName, sourceUrl } from './chart-kinds.ts';
import { registryHost } from './images.ts';
import type { Operation } from './operation.ts';
import type { Random } from './random.ts';
import type { Setup } from './setup.ts';
import type { World } from './world.ts';

/** Draws it, in some of the seeds that have a HelmRepository. */
export function drawSourceOperations(
  random: Random,
  { sources = [] }: Setup,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Operation[] {
  if (sources.length === 0 || !random.chance(0.8)) return [];
  return Array.from({ length: random.integer(1, 5) }, () => {
    const [at, namespace] = [random.between(firstMs, lastMs), random.pick(sources)];
    const silentMs = random.chance(0.5) ? random.between(2_000, 15_000) : 0;
    return { at, name: 'point a HelmRepository elsewhere, or back', run: (world) => point(world, namespace, silentMs) };
  });
}

function point(world: World, namespace: string, silentMs: number): void {
  world.hasInterference = true;
  if (silentMs > 0) {
    world.story.tell('fault', `silences the watches of HelmRepositories for ${(silentMs / 1_000).toFixed(1)} s`);
    for (const { watches } of world.replicas.values()) watches.silence(helmRepositories, silentMs);
  }
  world.server.edit({ resource: helmRepositories, namespace, name: sourceName, by: 'kubectl-edit' }, (source) => {
    const url = fieldsOf(source.spec)['url'] === sourceUrl ? `oci://${registryHost}/elsewhere` : sourceUrl;
    world.story.tell('person', `points the HelmRepository of ${namespace} at ${url}`);
    return { ...source, spec: { ...source.spec, url } };
  });
}
