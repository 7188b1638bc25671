/** Reads from the registry when images were created, for strategies that order by it: a bounded number of images in each reconcile. */
import { PermanentError, WaitError, describeError } from '../../core/model/errors.ts';
import type { Artifact } from '../../core/model/artifact.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { naturalOrder } from '../../core/select/select-tag.ts';
import type { LatestImage } from '../../core/model/policy-status.ts';
import type { CreationTimes } from '../../core/model/tag-strategy.ts';
import type { Registry } from './ports.ts';

export interface TimesRequest {
  readonly source: ImageSource;
  /** What the policy selects. */
  readonly artifact: Artifact;
  /** The running and the pending tags, which are read first. A running image whose tag is not known is named by its digest. */
  readonly needed: readonly string[];
  /** The image that was selected before. Its time is known even if the registry no longer holds the image. */
  readonly latest: LatestImage | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** The known times, and what a user should know about the missing ones. */
export interface KnownTimes {
  readonly created: CreationTimes;
  /** Tags of artifacts of other kinds. */
  readonly others: readonly string[];
  readonly notes: readonly string[];
}

const maxReads = 100;
/** How many artifacts of other kinds are read. They are counted apart, so that they delay no image. */
const maxOthers = 300;
const parallelReads = 8;
/** How long a time counts as just read. Policies of one repository are reconciled one after the other, and share it. */
const freshMs = 10_000;

/** The creation times of a few tags. Times that are remembered cost no request. */
export async function readSomeTimes(timesRequest: TimesRequest, registry: Registry): Promise<KnownTimes> {
  const { source, needed, latest } = timesRequest;
  const isUnknown = (tag: string) => registry.tagMemory.get(source, tag) === undefined && latestTime(latest, tag) === undefined;
  const failures = await readAll(needed.filter(isUnknown), timesRequest, registry);
  const created = recall(needed, timesRequest, registry);
  checkFailures(failures, created, needed);
  return { created, others: [], notes: describe(failures) };
}

/**
 * The times of all tags of a repository. One reconcile reads a limited number, in this order: needed tags; tags never read, the likely newest first; tags read
 * longest ago, because tags move; and artifacts of other kinds. The next reconcile continues. Times read a moment ago are reused, except for needed tags.
 */
export async function readAllTimes(tags: readonly string[], timesRequest: TimesRequest, registry: Registry): Promise<KnownTimes> {
  const { source, artifact, needed, now } = timesRequest;
  const recalled = (tag: string) => registry.tagMemory.get(source, tag);
  const readAt = (tag: string) => (needed.includes(tag) ? -1 : (recalled(tag)?.readAt ?? 0));
  // The image of a digest never changes. Tags contain no colon.
  const isFixed = (reference: string) => reference.includes(':') && recalled(reference) !== undefined;
  const isFresh = (tag: string) => isFixed(tag) || Math.abs(now() - readAt(tag)) < freshMs;
  const isOther = (tag: string) => recalled(tag)?.unusable[artifact] !== undefined;
  const rank = (tag: string) => Number(isOther(tag) && !needed.includes(tag));
  const inTurn = [...new Set([...needed, ...tags])]
    .filter((tag) => !isFresh(tag))
    .sort((a, b) => rank(a) - rank(b) || readAt(a) - readAt(b) || naturalOrder(b, a));
  const failures = await readAll(inTurn, timesRequest, registry, maxReads);
  const created = recall([...tags, ...needed], timesRequest, registry);
  checkFailures(failures, created, needed);
  const others = tags.filter(isOther);
  const unread = tags.filter((tag) => !created.has(tag)).length - failures.size;
  const limit = `${unread} of ${tags.length} tags were not read yet (${maxReads} in each reconcile): narrow them with tags.allow`;
  return { created, others, notes: [...(unread > 0 ? [limit] : []), ...describe(failures)] };
}

/** Reads as many images as one reconcile may; also returns those that failed, and why. */
async function readAll(
  tags: readonly string[],
  { source, artifact, now, signal }: TimesRequest,
  { readImage, tagMemory }: Registry,
  reads = Infinity,
): Promise<ReadonlyMap<string, unknown>> {
  const failures = new Map<string, unknown>();
  const waiting = tags.values();
  const left = { reads, others: maxOthers };
  let isOver = false;
  const readInTurn = async () => {
    for (const tag of waiting) {
      if (isOver) return;
      try {
        left.reads--;
        const image = await readImage(source, tag, signal);
        if (image !== undefined) tagMemory.set(source, tag, { created: image.created, unusable: image.unusable, readAt: now() });
        if (image?.unusable[artifact] !== undefined && left.others-- > 0) left.reads++;
      } catch (error) {
        isOver = error instanceof WaitError || error instanceof PermanentError || signal.aborted;
        if (isOver) throw error;
        failures.set(tag, error);
      }
      if (left.reads <= 0) return;
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, readInTurn));
  return failures;
}

/**
 * Throws if failed reads block the selection. One broken image among many does not. It does if it is the running one, because no image could be called newer
 * than it, or if no image could be read.
 */
function checkFailures(failures: ReadonlyMap<string, unknown>, created: CreationTimes, needed: readonly string[]): void {
  for (const [tag, error] of failures) {
    if (created.size === 0 || (needed.includes(tag) && !created.has(tag))) throw error;
  }
}

function recall(tags: readonly string[], { source, latest }: TimesRequest, { tagMemory }: Registry): CreationTimes {
  const created = new Map<string, Date | undefined>();
  for (const tag of tags) {
    const known = tagMemory.get(source, tag) ?? latestTime(latest, tag);
    if (known !== undefined) created.set(tag, known.created);
  }
  return created;
}

function latestTime(latest: LatestImage | undefined, tag: string): { created: Date } | undefined {
  return latest?.tag === tag && latest.createdAt !== undefined ? { created: new Date(latest.createdAt) } : undefined;
}

function describe(failures: ReadonlyMap<string, unknown>): string[] {
  const [first] = failures;
  if (first === undefined) return [];
  return [`${failures.size} images could not be read, among them ${first[0]}: ${describeError(first[1])}`];
}
