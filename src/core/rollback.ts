import { tryParseImageReference } from './image-reference.ts';
import type { Candidate } from './plan-update.ts';
import type { HistoryEntry, PolicyStatus } from './policy-status.ts';

/**
 * The image that `previous` or a tag stands for, by the history: `previous` is the latest that ran before what was applied last and has not been left or
 * failed since. A tag that the history does not know stands for itself. Undefined where there was nothing before.
 */
export function rollbackImage(status: PolicyStatus, wanted: string): Candidate | undefined {
  const known = imagesOf(status);
  if (wanted !== 'previous') return known.find(({ tag }) => tag === wanted) ?? { tag: wanted };
  const [current, ...earlier] = known;
  return earlier.find((image) => current !== undefined && !isSame(image, current) && !isLeft(image, status));
}

/** What a rollback leaves: what was applied last, and what is selected; as far as their digests are known. */
export function leftImages(status: PolicyStatus, candidate: Candidate): Required<Pick<Candidate, 'tag' | 'digest'>>[] {
  const [current] = imagesOf(status);
  const left = [current, status.latest].flatMap((image) =>
    image?.digest === undefined || isSame(image, candidate) ? [] : [{ tag: image.tag, digest: image.digest }],
  );
  return left.filter(({ digest }, index) => left.findIndex((other) => other.digest === digest) === index);
}

/** Everything that ran by the history, the latest first. */
function imagesOf({ history = [] }: PolicyStatus): Candidate[] {
  return history.flatMap((entry, index) => {
    const { tag, digest } = entry;
    const before = entry.from === undefined ? undefined : beforeImage(entry.from, history.slice(index + 1));
    return [{ tag, ...(digest !== undefined && { digest }) }, ...(before === undefined ? [] : [before])];
  });
}

function beforeImage(from: string, older: readonly HistoryEntry[]): Candidate | undefined {
  const { tag, digest } = tryParseImageReference(from) ?? {};
  if (tag === undefined) return undefined;
  const known = digest ?? older.find((entry) => entry.tag === tag)?.digest;
  return { tag, ...(known !== undefined && { digest: known }) };
}

function isSame(a: Candidate, b: Candidate): boolean {
  if (a.digest !== undefined && b.digest !== undefined) return a.digest === b.digest;
  return a.tag === b.tag;
}

function isLeft(image: Candidate, { rejected = [] }: PolicyStatus): boolean {
  return rejected.some(({ tag, digest }) => (image.digest === undefined ? tag === image.tag : digest === image.digest));
}
