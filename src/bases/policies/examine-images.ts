/** Finds out which images are built on which version of the base: digests of tags, facts about digests, and their comparison. */
import type { ImageBehind } from './act.ts';
import type { DigestMemory, KnownFor } from './digest-memory.ts';
import { inParallel, inSlices } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import type { KnownBase } from '../recognize/layers.ts';
import type { Line } from '../recognize/line.ts';
import { type BaseState, judge, type Recognition } from '../recognize/recognize-base.ts';
import { recognizeImages } from '../recognize/recognize-images.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import { sourceKey, type ImageSource, type PullAccess } from '../../core/model/image-source.ts';
import type { Registry } from '../../service/reconcile/ports.ts';
import type { NamedImage } from './list-images.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** An image, and its relation to the base. Unrelated: it is built on something else. */
export interface ExaminedImage {
  readonly image: NamedImage;
  readonly source: ImageSource;
  /** The digest of the image. Absent if the registry does not have its tag, or does not answer. */
  readonly digest?: string;
  readonly recognition: Recognition;
  readonly state: BaseState | 'Unrelated';
  readonly builtFrom?: string;
  /** The digest of the earlier image by which the base was recognized. */
  readonly origin?: string;
  /** Why the image could not be read. It is read again later. */
  readonly error?: unknown;
}

/** The base, its versions, and the credentials for registries. */
export interface Examination {
  readonly base: ImageSource;
  readonly selected: SelectedBase;
  /** The known versions of the base, the selected one first. */
  readonly known: readonly KnownBase[];
  readonly line: Line;
  readonly access: PullAccess | undefined;
  /** Whether the registry is asked for a tag even if it was asked a moment ago. */
  readonly isFresh: (image: { readonly source: Repository; readonly name: string }) => boolean;
  /** How long the digest of a tag is remembered. */
  readonly digestLifeMs: number;
  /** An image in the status, if it is listed there. Another replica may have read a newer digest than this process remembers, or none. */
  readonly shown: (image: string) => { readonly digest?: string } | undefined;
  readonly signal: AbortSignal;
}

export interface ExaminePorts {
  readonly digests: DigestMemory;
  readonly registry: Pick<Registry, 'headManifest' | 'readTag'>;
  readonly facts: FactsReader;
}

const parallelReads = 8;

/** The images, and the versions of the base that were learnt because an image names them. */
export interface Examined {
  readonly images: readonly ExaminedImage[];
  readonly learnt: readonly KnownBase[];
}

/** Examines all images. An unreadable image is Unknown. */
export async function examineImages(
  images: readonly NamedImage[],
  { base, selected, known, line, access, isFresh, digestLifeMs, shown, signal }: Examination,
  ports: ExaminePorts,
): Promise<Examined> {
  const named = images.map((image) => ({ image, source: { ...image.repository, ...defined({ access }) } }));
  const knownFor = (one: { readonly source: ImageSource; readonly name: string }): KnownFor => {
    return { lifeMs: isFresh(one) ? 0 : digestLifeMs, shown: shown(one.name), signal };
  };
  const heads = await inParallel(named, parallelReads, async ({ image: { tag, digest }, source }) => {
    return digest ?? (tag === undefined ? undefined : readDigest(source, tag, knownFor({ source, name: taggedName(source, tag) }), ports));
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
  const recognized = await recognizeImages(found, { source: base, known }, { reader: ports.facts, signal });
  const standard = { digest: selected.digest, line };
  const judged: ExaminedImage[] = [];
  await inSlices(recognized.images, signal, ({ image: { image, source, digest }, recognition, builtFrom, origin, error }) => {
    const { state = 'Unrelated', recognition: found } = judge(recognition, standard);
    judged.push({ image, source, digest, recognition: found, state, ...defined({ builtFrom, origin, error }) });
  });
  return { images: [...judged, ...missing], learnt: recognized.learnt };
}

/** The name of an image, as the status shows it. */
export function taggedName(repository: Repository, tag: string): string {
  return `${formatRepository(repository)}:${tag}`;
}

async function readDigest(
  source: ImageSource,
  tag: string,
  known: KnownFor,
  { registry, digests, facts }: ExaminePorts,
): Promise<string | undefined> {
  const ask = async (signal: AbortSignal, isNew: boolean) => {
    // The manifest of an image that is seen for the first time is read in any case: with its tag, this is one request instead of two.
    if (!isNew) return (await registry.headManifest(source, tag, signal))?.digest;
    const found = await registry.readTag(source, tag, signal);
    // If this fails, the facts are read again when the image is compared, which reports the error.
    if (found?.bytes !== undefined) await facts.read(source, found.digest, signal, found.bytes).catch(() => undefined);
    return found?.digest;
  };
  return digests.read(sourceKey(source, tag), known, ask);
}

/** The image as actions take it; undefined if its base is not recognized. */
export function toImage({
  image: { tag, digest: named, workloads },
  source,
  digest,
  recognition,
  builtFrom,
  origin,
}: ExaminedImage): ImageBehind | undefined {
  if (digest === undefined || recognition.kind !== 'recognized') return undefined;
  return {
    source,
    tag,
    digest,
    isPinned: named !== undefined,
    base: recognition.base.digest,
    baseTags: recognition.base.tags,
    workloads,
    ...defined({ builtFrom, origin }),
  };
}
