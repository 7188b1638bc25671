/** The known versions of a base: those that are remembered, and those that the registry has besides. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import { type Line, lineOf } from '../recognize/line.ts';
import { knownBase, type KnownBase } from '../recognize/layers.ts';
import { orderTags, orderVersions, readVersions, type ReadVersionsMeans, tagsOfLine, type UnreadTag } from '../recognize/read-versions.ts';
import type { SeenVersion } from '../record/seen-version.ts';
import type { UsableBasePolicy } from './act.ts';
import type { SelectedBase } from './plan-roll-out.ts';
import type { BaseChoice } from './select-base.ts';

/** What a policy remembers of its base. */
export interface VersionRecords {
  /** The versions that were seen. With `atLeast`, they are read again if this process knows fewer. */
  readonly read: (
    policy: UsableBasePolicy,
    signal: AbortSignal,
    options?: { readonly atLeast?: number },
  ) => Promise<readonly SeenVersion[]>;
  /** Adds versions, and returns all. Versions in use are never dropped, and none is with `keepsAll`. */
  readonly add: (
    policy: UsableBasePolicy,
    versions: readonly SeenVersion[],
    options: { readonly inUse: ReadonlySet<string>; readonly keepsAll?: boolean; readonly signal: AbortSignal },
  ) => Promise<readonly SeenVersion[]>;
}

export interface LearnPorts {
  readonly records: VersionRecords;
  readonly registry: ReadVersionsMeans['registry'];
  readonly facts: FactsReader;
  readonly cluster: { readonly now: () => number };
}

/** The versions of a base that images are compared with. */
export interface LearntVersions {
  /** The selected version first, then those of its line, the newest first, then all others. */
  readonly known: readonly KnownBase[];
  readonly line: Line;
  /** Versions to remember: they are new, or have a new tag. */
  readonly news: readonly SeenVersion[];
  /** The digests of the versions of which it is remembered that images on them ran. */
  readonly used: ReadonlySet<string>;
  /** Tags to read in the next reconcile. */
  readonly rest: readonly string[];
  /** Tags that could not be read, to be read again some minutes later. */
  readonly failed: readonly UnreadTag[];
  /** How many tags are not compared until the registry is asked again, because there are too many. */
  readonly givenUp: number;
}

/** The maximum number of versions that are remembered for a policy, and of tags of its base that are read. */
export const maxVersions = 5_000;
/** The maximum number of tags that are read in one reconcile. The next one goes on. */
const maxNew = 200;
/** Tags of known versions that are read again after the registry was asked: those of the line, the newest first, and some of the others in turn. */
const maxAgain = 100;
const maxTurn = 50;
const parallelReads = 8;

/** Reads what is not known yet, as much as one reconcile may. */
export async function learnVersions(
  policy: UsableBasePolicy,
  { source, selected, waiting, strategy, tags, givenUp: earlier = 0, isNew, checkedAt }: BaseChoice & { readonly selected: SelectedBase },
  { records, registry, facts, cluster }: LearnPorts,
  signal: AbortSignal,
): Promise<LearntVersions> {
  const { status, spec } = policy;
  const remembered = await records.read(policy, signal, { atLeast: status.versions?.known ?? 0 });
  const repository = formatRepository(source);
  const before = new Map(remembered.map((version) => [version.digest, { repository, ...version }]));
  const seen = new Set(remembered.flatMap(({ tags }) => tags));
  const order = await tagsOfLine(new Set([...tags, ...seen]), { strategy, from: spec.from }, signal);
  const unseen = await orderTags(
    tags.filter((tag) => !seen.has(tag)),
    order,
    signal,
  );
  const possible = unseen.slice(0, Math.max(0, maxVersions - seen.size));
  const known = await orderTags(
    tags.filter((tag) => seen.has(tag)),
    order,
    signal,
  );
  const again = tagsToReadAgain(known, { checkedAt, everyMs: spec.base.pollIntervalMs });
  const wanted = new Set([...possible.slice(0, maxNew), ...again]);
  // The registry was asked for the tag of the selected version, unless a newer one waits.
  if (waiting === undefined) wanted.delete(selected.tag);
  const read = await readVersions(source, [...wanted], before, { registry, reader: facts, signal });
  const chosen = await readSelected(policy, selected, before, { source, facts, signal });
  const former = before.get(selected.digest);
  const followed = former === undefined || waiting !== undefined ? [] : [{ ...former, tags: [selected.tag] }];
  const seenAt = toSeconds(new Date(cluster.now()));
  type Found = SeenVersion & KnownBase;
  const found = [...Map.groupBy([...chosen, ...followed, ...read.bases], ({ digest }) => digest)].flatMap(
    ([digest, [base, ...same]]): Found[] => {
      if (base === undefined) return [];
      const known = before.get(digest);
      const tags = [base, ...same, ...(known === undefined ? [] : [known])].flatMap(({ tags }) => tags);
      const isSelected = known?.selected === true || digest === selected.digest || chosen.includes(base);
      return [{ ...base, tags: [...new Set(tags)], seenAt: known?.seenAt ?? seenAt, ...(isSelected && { selected: true as const }) }];
    },
  );
  const isNews = ({ digest, tags, selected }: SeenVersion) => {
    const known = before.get(digest);
    return known === undefined || known.selected !== selected || tags.some((tag) => !known.tags.includes(tag));
  };
  const all = new Map<string, Found>([...before, ...found.map((version) => [version.digest, version] as const)]);
  const versions = [...all.values()].toSorted((a, b) => (a.seenAt > b.seenAt ? -1 : Number(a.seenAt < b.seenAt)));
  const ordered = await orderVersions(versions, selected.digest, order, signal);
  const selectedBefore = new Set(versions.filter((version) => version.selected === true).map(({ digest }) => digest));
  const line = await lineOf({ strategy, selected, known: versions, ...order, selectedBefore, waiting: waiting?.digest }, signal);
  const rest = possible.slice(maxNew);
  return {
    known: ordered,
    line,
    news: found.filter(isNews).map((version) => seenVersion(version, version)),
    used: new Set(remembered.flatMap(({ digest, used }) => (used === true ? [digest] : []))),
    rest,
    failed: read.unread,
    givenUp: (isNew ? 0 : earlier) + unseen.length - possible.length,
  };
}

/** A version as it is remembered. */
export function seenVersion(
  { digest, tags, platforms, builtFrom }: KnownBase,
  { seenAt, selected, used }: Pick<SeenVersion, 'seenAt' | 'selected' | 'used'>,
): SeenVersion {
  return { digest, tags, platforms, seenAt, ...defined({ builtFrom, selected, used }) };
}

/** Known tags may have been moved: the newest of the line are read again after each answer of the registry, and all others in turn. */
function tagsToReadAgain(
  known: readonly string[],
  { checkedAt, everyMs }: { readonly checkedAt: number; readonly everyMs: number },
): string[] {
  const others = known.slice(maxAgain);
  const turns = Math.max(1, Math.ceil(others.length / maxTurn));
  const turn = Math.floor(checkedAt / everyMs) % turns;
  return [...known.slice(0, maxAgain), ...others.slice(turn * maxTurn, (turn + 1) * maxTurn)];
}

/**
 * The selected version, and those that were selected before and whose tag may have moved since: the registry may still have them. Rejects if the selected one
 * cannot be read, because all results would be wrong.
 */
async function readSelected(
  { status: { history = [], latest } }: UsableBasePolicy,
  selected: SelectedBase,
  before: ReadonlyMap<string, KnownBase>,
  { source, facts, signal }: { readonly source: BaseChoice['source']; readonly facts: FactsReader; readonly signal: AbortSignal },
): Promise<KnownBase[]> {
  const former = [...(latest ? [latest] : []), ...history].filter(({ digest }) => digest !== selected.digest);
  const unknown = [selected, ...former].filter(({ digest }) => !before.has(digest));
  const read = await inParallel(unknown, parallelReads, async ({ digest, tag }) => {
    const found = await facts.read(source, digest, signal);
    return found === undefined ? [] : [knownBase(found, { repository: formatRepository(source), tags: [tag] })];
  });
  return read.flatMap((result, index) => {
    if (result.status === 'fulfilled') return result.value;
    if (unknown[index] === selected) throw result.reason;
    return [];
  });
}
