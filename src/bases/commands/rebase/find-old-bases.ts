/** The versions of a base that an image may be built on, if the user names none. */
import { createFactsReader, noStore } from '../../recognize/facts-reader.ts';
import { recognizeImages } from '../../recognize/recognize-images.ts';
import { defined } from '../../../core/model/defined.ts';
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

const maxTags = 200;

/** The version that the image is built on, found among at most 200 tags of the base and the digests that the image names. Rejects if there is none. */
export async function findOldBases(application: Located, base: Repository, latest: string, means: Means): Promise<readonly Located[]> {
  const { registry, aliases, signal } = means;
  const digest = (await registry.headManifest(application.source, application.reference, signal))?.digest;
  if (digest === undefined) throw new Error(`the registry does not have ${formatLocated(application)}: check the name`);
  const reader = createFactsReader({ registry, store: noStore, aliases, now: Date.now });
  const { bases } = await findVersions({ registry, reader, signal }, { base, strategy: strategies.semver({}), latest, maxTags });
  const {
    images: [recognized],
  } = await recognizeImages([{ source: application.source, digest }], bases, { reader, signal });
  if (recognized?.error !== undefined) throw recognized.error;
  if (recognized?.recognition.kind === 'recognized') {
    const {
      digest,
      tags: [tag],
    } = recognized.recognition.base;
    return [{ source: base, reference: digest, ...defined({ tag }) }];
  }
  const why = recognized?.recognition.kind === 'unknown' ? `: ${recognized.recognition.reason}` : '';
  throw new Error(
    `${formatLocated(application)} is built on no version of ${formatRepository(base)} that its registry has a tag for${why}; name the version that it is built on with --from`,
  );
}
