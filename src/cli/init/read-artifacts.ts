/** What the tags that are installed are, as their manifests say. */
import { inParallel } from '../../core/async/in-parallel.ts';
import type { Artifact } from '../../core/model/artifact.ts';
import { describeError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';

/** What a policy for a tag has to select: charts, or any artifacts; or why none can select it. */
export type InstalledArtifact = { readonly artifact: Artifact } | { readonly problem: string };

interface Means {
  readonly registry: Pick<RegistryClient, 'resolveTag' | 'whyUnusable'>;
  readonly signal: AbortSignal;
}

const maxParallel = 8;

/** Reads the manifest of each tag once. The tags are keys of the result. Rejects only with the signal's reason. */
export async function readArtifacts(
  installed: ReadonlyMap<string, { readonly source: ImageSource; readonly tag: string }>,
  { registry, signal }: Means,
): Promise<ReadonlyMap<string, InstalledArtifact>> {
  const found = new Map<string, InstalledArtifact>();
  const read = async ({ source, tag }: { source: ImageSource; tag: string }): Promise<InstalledArtifact> => {
    const resolved = await registry.resolveTag(source, tag, signal);
    if (resolved === undefined) return { problem: `the registry does not have the tag ${tag}, which is installed` };
    const unusable = await registry.whyUnusable(source, resolved.digest, signal);
    if (unusable.Chart === undefined) return { artifact: 'Chart' };
    return unusable.Any === undefined ? { artifact: 'Any' } : { problem: `no policy can select it: ${unusable.Any}` };
  };
  await inParallel([...installed], maxParallel, async ([key, one]) => {
    found.set(key, await read(one).catch((error: unknown) => ({ problem: `it cannot be read: ${describeError(error)}` })));
  });
  signal.throwIfAborted();
  return found;
}
