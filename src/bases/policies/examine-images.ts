/** Finds out which images are built on which version of the base: digests of tags, facts about digests, and their comparison. */
import type { BoundedMap } from '../../core/async/bounded-map.ts';
import { inParallel } from '../../core/async/in-parallel.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import { baseState, type Recognition } from '../recognize/recognize-base.ts';
import { recognizeImages, type BaseVersion } from '../recognize/recognize-images.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource, type PullAccess } from '../../core/model/image-source.ts';
import type { Registry } from '../../service/reconcile/ports.ts';
import type { NamedImage } from './list-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** An image, and how it relates to the base. Unrelated: it is built on something else. */
export interface ExaminedImage {
  readonly image: NamedImage;
  readonly source: ImageSource;
  /** Absent if the registry does not have its tag, or does not answer. */
  readonly digest?: string;
  readonly recognition: Recognition;
  readonly state: 'Current' | 'Behind' | 'Unknown' | 'Unrelated';
  readonly builtFrom?: string;
  /** Why it could not be read; it is tried again. */
  readonly error?: unknown;
}

/** The base, its versions, and on whose behalf registries are asked. */
export interface Examination {
  readonly base: ImageSource;
  readonly selected: SelectedBase;
  /** The selected one first. */
  readonly versions: readonly BaseVersion[];
  readonly access: PullAccess | undefined;
  /** Whether the registry is asked for the tags of a repository, also for those that it was asked for a moment ago. */
  readonly isFresh: (repository: Repository) => boolean;
  /** The digest of an image in the status: what another replica has read may be newer than what this one remembers. */
  readonly shown: (image: string) => string | undefined;
  readonly signal: AbortSignal;
}

/** Digests of tags by repository, access and tag, with the time at which the registry was asked, in ms since 1970. */
export type DigestMemory = BoundedMap<string, { readonly digest: string; readonly at: number }>;

export interface ExaminePorts {
  readonly digests: DigestMemory;
  readonly cluster: { readonly now: () => number };
  readonly registry: Pick<Registry, 'headManifest'>;
  readonly facts: FactsReader;
}

const parallelReads = 8;
/** While images are rolled out in waves, each step examines all of them. */
const digestLifeMs = 60_000;

/** Examines all images. One that cannot be read is Unknown; rejects if a version of the base cannot be read, because the result would be wrong for all. */
export async function examineImages(
  images: readonly NamedImage[],
  { base, selected, versions, access, isFresh, shown, signal }: Examination,
  ports: ExaminePorts,
): Promise<ExaminedImage[]> {
  const named = images.map((image) => ({ image, source: { ...image.repository, ...(access && { access }) } }));
  const heads = await inParallel(named, parallelReads, async ({ image: { tag, digest }, source }) => {
    return (
      digest ??
      (tag === undefined
        ? undefined
        : readDigest(source, tag, { isFresh: isFresh(source), shown: shown(`${formatRepository(source)}:${tag}`), signal }, ports))
    );
  });
  signal.throwIfAborted();
  const found = named.flatMap((one, index) => {
    const head = heads[index];
    return head?.status === 'fulfilled' && head.value !== undefined ? [{ ...one, digest: head.value }] : [];
  });
  const missing = named.flatMap(({ image, source }, index): ExaminedImage[] => {
    const head = heads[index];
    if (head?.status === 'fulfilled' && head.value !== undefined) return [];
    const failed = head?.status === 'rejected';
    const reason = failed
      ? `its digest cannot be read: ${describeError(head.reason)}`
      : `the registry does not have ${formatRepository(source)}:${image.tag}`;
    return [{ image, source, state: 'Unknown', recognition: { kind: 'unknown', reason }, ...(failed && { error: head.reason }) }];
  });
  const recognized = await recognizeImages(found, { source: base, versions }, { reader: ports.facts, signal });
  return [
    ...recognized.map(({ image: { image, source, digest }, recognition, builtFrom, error }) => ({
      image,
      source,
      digest,
      recognition,
      state: baseState(recognition, selected) ?? ('Unrelated' as const),
      ...(builtFrom !== undefined && { builtFrom }),
      ...(error !== undefined && { error }),
    })),
    ...missing,
  ];
}

async function readDigest(
  source: ImageSource,
  tag: string,
  { isFresh, shown, signal }: { readonly isFresh: boolean; readonly shown: string | undefined; readonly signal: AbortSignal },
  { registry, digests, cluster }: ExaminePorts,
): Promise<string | undefined> {
  const key = `${formatRepository(source)} ${accessKey(source)} ${tag}`;
  const known = digests.get(key);
  const isKnown = known !== undefined && cluster.now() - known.at < digestLifeMs && (shown === undefined || shown === known.digest);
  if (!isFresh && isKnown) return known.digest;
  const at = cluster.now();
  const head = await registry.headManifest(source, tag, signal);
  if (head !== undefined) digests.set(key, { digest: head.digest, at });
  return head?.digest;
}
