/** Recognizes the bases of running images: reads the versions of the base, then each image, and compares them. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { FactsReader } from './facts-reader.ts';
import { knownBase, type KnownBase } from './layers.ts';
import { recognizeBase, type Recognition, unknownBases } from './recognize-base.ts';

/** A version of the base. */
export interface BaseVersion {
  readonly tag?: string | undefined;
  readonly digest: string;
}

/** A base and its versions: the selected one first, then the newest first. */
export interface BaseVersions {
  readonly source: ImageSource;
  readonly versions: readonly BaseVersion[];
}

/** An image that runs. */
export interface RunningImage {
  readonly source: ImageSource;
  readonly digest: string;
}

/** An image and what is known about its base; `error`: why it could not be read, to decide when to retry. */
export interface RecognizedImage<I extends RunningImage> {
  readonly image: I;
  readonly recognition: Recognition;
  /** The source that the image names as its own. Labels are inherited, so a source that its base names as well is that of the base. */
  readonly builtFrom?: string;
  readonly error?: unknown;
}

/** Each version costs several requests, once. Older ones are read only if an image names them. */
export const maxVersions = 100;
const parallelReads = 8;

/**
 * Recognizes the base of each image; results are in the order of the images. An image that cannot be read is unknown. Rejects if a version of the base cannot be
 * read, because images that are built on it would be reported as unrelated; versions that the registry no longer has are left out.
 */
export async function recognizeImages<I extends RunningImage>(
  images: readonly I[],
  { source, versions }: BaseVersions,
  { reader, signal }: { readonly reader: FactsReader; readonly signal: AbortSignal },
): Promise<RecognizedImage<I>[]> {
  const sources = new Set<string>();
  const readBase = async ({ tag, digest }: BaseVersion): Promise<KnownBase[]> => {
    const facts = await reader.read(source, digest, signal);
    if (facts?.builtFrom !== undefined) sources.add(facts.builtFrom);
    return facts === undefined ? [] : [knownBase(facts, { repository: formatRepository(source), ...(tag !== undefined && { tag }) })];
  };
  const read = await inParallel(versions.slice(0, maxVersions), parallelReads, readBase);
  const known = read.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });

  const recognize = async (image: I): Promise<RecognizedImage<I>> => {
    const { source, digest } = image;
    const facts = await reader.read(source, digest, signal);
    if (facts === undefined) {
      return { image, recognition: { kind: 'unknown', reason: `the registry of ${formatRepository(source)} does not have ${digest}` } };
    }
    const older: KnownBase[] = [];
    for (const unknown of unknownBases(facts, known)) older.push(...(await readBase({ digest: unknown })));
    const { builtFrom } = facts;
    const recognition = recognizeBase(facts, [...known, ...older]);
    return { image, recognition, ...(builtFrom !== undefined && !sources.has(builtFrom) && { builtFrom }) };
  };
  const results = await inParallel(images, parallelReads, recognize);
  signal.throwIfAborted();
  return images.flatMap((image, index): RecognizedImage<I>[] => {
    const result = results[index];
    if (result === undefined) return [];
    if (result.status === 'fulfilled') return [result.value];
    const { reason: error } = result;
    return [{ image, recognition: { kind: 'unknown', reason: `the image cannot be read: ${describeError(error)}` }, error }];
  });
}
