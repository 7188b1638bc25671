/** The versions of a base that an image may be built on, if the user names none. */
import { createFactsReader } from '../../recognize/facts-reader.ts';
import { recognizeImages } from '../../recognize/recognize-images.ts';
import { formatRepository, type RegistryAliases, type Repository } from '../../../core/model/image-reference.ts';
import { formatLocated, type Located } from '../../rebase/read-content.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import { strategies } from '../../../core/select/strategies/index.ts';
import { findVersions } from '../bases/find-versions.ts';

interface Means {
  readonly registry: RegistryClient;
  readonly aliases: RegistryAliases;
  readonly signal: AbortSignal;
}

/** The version that the image is built on, among at most 100 tags of the base and the digests that the image names. Rejects if there is none. */
export async function findOldBases(application: Located, base: Repository, latest: string, means: Means): Promise<readonly Located[]> {
  const { registry, aliases, signal } = means;
  const { versions } = await findVersions({ registry, signal }, { base, strategy: strategies.semver({}), latest });
  const digest = (await registry.headManifest(application.source, application.reference, signal))?.digest;
  if (digest === undefined) throw new Error(`the registry does not have ${formatLocated(application)}: check the name`);
  // A command runs once: nothing is kept for the next one.
  const store = { read: () => Promise.resolve(undefined), write: () => Promise.resolve() };
  const reader = createFactsReader({ registry, store, aliases, now: Date.now });
  const [recognized] = await recognizeImages([{ source: application.source, digest }], { source: base, versions }, { reader, signal });
  if (recognized?.error !== undefined) throw recognized.error;
  if (recognized?.recognition.kind === 'recognized') {
    const { digest, tag } = recognized.recognition.base;
    return [{ source: base, reference: digest, tag }];
  }
  const why = recognized?.recognition.kind === 'unknown' ? `: ${recognized.recognition.reason}` : '';
  throw new Error(
    `${formatLocated(application)} is built on no version of ${formatRepository(base)} that its registry has a tag for${why}; name the version that it is built on with --from`,
  );
}
