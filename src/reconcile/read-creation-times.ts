/** When images were created, asked of the registry for strategies that order by it: a bounded number of them in each look. */
import { PermanentError, WaitError, describeError } from '../model/errors.ts';
import type { ImageSource } from '../model/image-source.ts';
import { naturalOrder } from '../select/natural-order.ts';
import type { LatestImage } from '../model/policy-status.ts';
import type { CreationTimes } from '../model/tag-strategy.ts';
import type { ReadImage } from './read-images.ts';
import type { TagMemory } from './tag-memory.ts';

export interface CreationTimePorts {
  readonly readImage: ReadImage;
  readonly tagMemory: TagMemory;
  readonly now: () => number;
}

export interface TimesRequest {
  readonly source: ImageSource;
  /** What the targets run and what waits: these are asked for first. */
  readonly needed: readonly string[];
  /** What was selected before: its time is known even when the registry holds it no more. */
  readonly latest: LatestImage | undefined;
}

/** The times that are known, and what a user should know of those that are not. */
export interface KnownTimes {
  readonly created: CreationTimes;
  /** Tags of what is no image. */
  readonly artifacts: readonly string[];
  readonly notes: readonly string[];
}

const maxReads = 100;
/** Of what is no image; these do not count as reads, so that they keep no image waiting. */
const maxArtifacts = 300;
const parallelReads = 8;
/** Policies of one repository look one after the other. */
const freshMs = 10_000;

/** The times of a few tags: what is remembered costs nothing. */
export async function readSomeTimes(timesRequest: TimesRequest, ports: CreationTimePorts, signal: AbortSignal): Promise<KnownTimes> {
  const { source, needed, latest } = timesRequest;
  const isUnknown = (tag: string) => ports.tagMemory.get(source, tag) === undefined && latestTime(latest, tag) === undefined;
  const failures = await readAll(needed.filter(isUnknown), source, ports, signal);
  const created = recall(needed, timesRequest, ports);
  checkFailures(failures, created, needed);
  return { created, artifacts: [], notes: describe(failures) };
}

/**
 * The times of all tags of a repository, of which so many are read in one look: what is needed, then what was never read, the likely newest first, then
 * what was read longest ago, because tags move, and at last what was no image. The next look goes on. What was read a moment ago is believed, except of what
 * is needed.
 */
export async function readAllTimes(
  tags: readonly string[],
  timesRequest: TimesRequest,
  ports: CreationTimePorts,
  signal: AbortSignal,
): Promise<KnownTimes> {
  const { source, needed } = timesRequest;
  const recalled = (tag: string) => ports.tagMemory.get(source, tag);
  const readAt = (tag: string) => (needed.includes(tag) ? -1 : (recalled(tag)?.readAt ?? 0));
  const isFresh = (tag: string) => ports.now() - readAt(tag) < freshMs;
  const rank = (tag: string) => Number(recalled(tag)?.isArtifact === true && !needed.includes(tag));
  const inTurn = tags.filter((tag) => !isFresh(tag)).sort((a, b) => rank(a) - rank(b) || readAt(a) - readAt(b) || naturalOrder(b, a));
  const failures = await readAll(inTurn, source, ports, signal, maxReads);
  const created = recall([...tags, ...needed], timesRequest, ports);
  checkFailures(failures, created, needed);
  const artifacts = tags.filter((tag) => recalled(tag)?.isArtifact === true);
  const unread = tags.filter((tag) => !created.has(tag)).length - failures.size;
  const limit = `${unread} of ${tags.length} tags were not looked at yet (${maxReads} in each look): narrow them with tags.allow`;
  return { created, artifacts, notes: [...(unread > 0 ? [limit] : []), ...describe(failures)] };
}

/** As many of them as may be read in one look; those that could not be, and why. */
async function readAll(
  tags: readonly string[],
  source: ImageSource,
  { readImage, tagMemory, now }: CreationTimePorts,
  signal: AbortSignal,
  reads = Infinity,
): Promise<ReadonlyMap<string, unknown>> {
  const failures = new Map<string, unknown>();
  const waiting = tags.values();
  const left = { reads, artifacts: maxArtifacts };
  let isOver = false;
  const readInTurn = async () => {
    for (const tag of waiting) {
      if (isOver) return;
      try {
        left.reads--;
        const image = await readImage(source, tag, signal);
        const isArtifact = image?.noImage !== undefined;
        if (image !== undefined) tagMemory.set(source, tag, { created: image.created, isArtifact, readAt: now() });
        if (isArtifact && left.artifacts-- > 0) left.reads++;
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

/** One broken image among many does not hold up the others. It does when it is what runs, because nothing could be told to be newer; or all there is. */
function checkFailures(failures: ReadonlyMap<string, unknown>, created: CreationTimes, needed: readonly string[]): void {
  for (const [tag, error] of failures) {
    if (created.size === 0 || (needed.includes(tag) && !created.has(tag))) throw error;
  }
}

function recall(tags: readonly string[], { source, latest }: TimesRequest, { tagMemory }: CreationTimePorts): CreationTimes {
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
