/** Recognizes the bases of running images: reads each image, and compares it with the known versions of the base. */
import { inParallel, inSlices } from '../../core/async/in-parallel.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { indexBases } from './base-index.ts';
import type { BuildFacts } from './facts.ts';
import { knownSettings } from './contested-versions.ts';
import type { FactsReader } from './facts-reader.ts';
import { knownBase, type KnownBase } from './layers.ts';
import { recognizeOrigin } from './recognize-origin.ts';
import { recognizeBase, type Recognition, unknownBases } from './recognize-base.ts';

/** A base and its known versions: the selected one first, then those of its line, the newest first, then all others. */
export interface KnownBases {
  readonly source: ImageSource;
  readonly known: readonly KnownBase[];
}

/** An image that runs. */
export interface RunningImage {
  readonly source: ImageSource;
  readonly digest: string;
}

/** An image and what is known about its base. `error` says why it could not be read, to decide when to retry. */
export interface RecognizedImage<I extends RunningImage> {
  readonly image: I;
  readonly recognition: Recognition;
  /** The source that the image names as its own. Labels are inherited, so a source that the base names as well is that of the base. */
  readonly builtFrom?: string;
  /** The digest of the earlier image by which the base was recognized: this one was made from it. */
  readonly origin?: string;
  readonly error?: unknown;
}

export interface RecognizedImages<I extends RunningImage> {
  /** The recognized images, in the order of the given ones. */
  readonly images: readonly RecognizedImage<I>[];
  /** Versions of the base that were not known, and that an image names by their digest. */
  readonly learnt: readonly KnownBase[];
}

const parallelReads = 8;

/** Recognizes the base of each image. An image that cannot be read is unknown. Versions that an image names are read if the registry still has them. */
export async function recognizeImages<I extends RunningImage>(
  images: readonly I[],
  { source, known }: KnownBases,
  { reader, signal }: { readonly reader: FactsReader; readonly signal: AbortSignal },
): Promise<RecognizedImages<I>> {
  const repository = formatRepository(source);
  const { settings, learn, faultFor } = knownSettings(source, { reader, signal });
  const index = await indexBases(known, signal, settings);
  const own = { repositories: new Set([repository]), hasDigest: index.hasDigest };
  const read = await inParallel(images, parallelReads, ({ source, digest }) => reader.read(source, digest, signal));
  const facts = read.flatMap((result) => (result.status === 'fulfilled' && result.value !== undefined ? [result.value] : []));
  const named = [...new Set(facts.flatMap((one) => unknownBases(one, own)))];
  const found = await inParallel(named, parallelReads, (digest) => reader.read(source, digest, signal));
  signal.throwIfAborted();
  const faults = new Map(
    found.flatMap((result, place) => (result.status === 'rejected' ? [[named[place], result.reason as unknown]] : [])),
  );
  const learnt = found.flatMap((result): KnownBase[] => {
    const base = result.status === 'fulfilled' ? result.value : undefined;
    return base === undefined || base.platforms.length === 0 ? [] : [knownBase(base, { repository, tags: [] })];
  });
  const all = learnt.length === 0 ? index : await indexBases([...known, ...learnt], signal, settings);
  await learn(facts, all);
  const sources = new Set(all.known.flatMap(({ builtFrom }) => builtFrom ?? []));

  const recognize = (image: I, facts: BuildFacts | undefined): RecognizedImage<I> => {
    const { digest } = image;
    if (facts === undefined) {
      return {
        image,
        recognition: { kind: 'unknown', reason: `the registry of ${formatRepository(image.source)} does not have ${digest}` },
      };
    }
    const unread = unknownBases(facts, own).find((digest) => faults.has(digest));
    const fault = unread === undefined ? faultFor(facts, all) : faults.get(unread);
    if (fault !== undefined) return unreadable(image, fault);
    const { builtFrom } = facts;
    return { image, recognition: recognizeBase(facts, all), ...(builtFrom !== undefined && !sources.has(builtFrom) && { builtFrom }) };
  };
  const recognized: RecognizedImage<I>[] = [];
  await inSlices(images.entries(), signal, ([place, image]) => {
    const result = read[place];
    if (result?.status === 'fulfilled') recognized.push(recognize(image, result.value));
    else if (result !== undefined) recognized.push(unreadable(image, result.reason));
  });
  const earlier = await inParallel(recognized, parallelReads, async ({ image, recognition, error }) => {
    const isOpen = recognition.kind !== 'recognized' && error === undefined;
    const own = isOpen ? await reader.read(image.source, image.digest, signal) : undefined;
    return own && recognizeOrigin(image, own, all, { reader, learn, signal });
  });
  signal.throwIfAborted();
  const complete = recognized.map((one, place): RecognizedImage<I> => {
    const found = earlier[place];
    return found?.status === 'rejected' ? unreadable(one.image, found.reason) : { ...one, ...found?.value };
  });
  return { images: complete, learnt };
}

/** Throws the error of an image that could not be read at present. Otherwise a decision would take it for one that is not concerned, and nothing would read it again. */
export function requireRead(images: readonly Pick<RecognizedImage<RunningImage>, 'error'>[]): void {
  const found = images.find(({ error }) => error !== undefined && !(error instanceof PermanentError));
  if (found !== undefined) throw found.error;
}

function unreadable<I extends RunningImage>(image: I, error: unknown): RecognizedImage<I> {
  return { image, recognition: { kind: 'unknown', reason: `the image cannot be read: ${describeError(error)}` }, error };
}
