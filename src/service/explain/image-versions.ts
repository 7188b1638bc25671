/** Counts places by repository and by version. Pure. */
import { type Each, sortInSlices } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { workloadKey } from '../../core/model/workload.ts';
import { newestFirst } from '../../core/select/newest-first.ts';
import type { Place } from './running-places.ts';

/** A container is one place, however many policies select it. */
interface Counts {
  readonly places: number;
  readonly behind: number;
}

export interface RunningRepository extends Counts {
  readonly repository: string;
  readonly namespaces: number;
  readonly policies: number;
  /** How many different versions run. */
  readonly versions: number;
}

export interface RunningVersion extends Counts {
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
  /** When it was first seen, as far as that is known: selected by a policy, or run. */
  readonly firstSeenAt?: string;
  /** The namespaces that run it or should, sorted by name. */
  readonly namespaces: readonly VersionInNamespace[];
}

/** `isWanted`: whether a policy selects this version for a workload of the namespace. */
export interface VersionInNamespace extends Counts {
  readonly namespace: string;
  readonly isWanted: boolean;
}

/** The key of a container. Several policies may select it. */
export function placeKey({ workload, container }: Place): string {
  return `${workloadKey(workload)}/${container}`;
}

/** The repositories of these places: first those with places that are behind, then by name. */
export async function repositoriesOf(places: readonly Place[], each: Each): Promise<RunningRepository[]> {
  const found: RunningRepository[] = [];
  await each(await byRepository(places, each), ([repository, own]) => {
    found.push({
      repository,
      ...countOf(own),
      namespaces: new Set(own.map(({ workload }) => workload.namespace)).size,
      policies: new Set(own.map(({ policy }) => policyKey(policy))).size,
      versions: groupByVersion(own).filter((mentions) => mentions.some(({ isWanted }) => !isWanted)).length,
    });
  });
  return sortInSlices(found, (a, b) => Number(b.behind > 0) - Number(a.behind > 0) || (a.repository < b.repository ? -1 : 1), each);
}

/** The versions that run somewhere or are selected for somewhere, by repository, the newest first. */
export async function versionsOf(places: readonly Place[], each: Each): Promise<RunningVersion[]> {
  const found: RunningVersion[] = [];
  const sorted = await sortInSlices([...(await byRepository(places, each))], ([a], [b]) => (a < b ? -1 : 1), each);
  await each(sorted, ([repository, own]) => void found.push(...versionsOfOne(repository, own)));
  return found;
}

async function byRepository(places: readonly Place[], each: Each): Promise<ReadonlyMap<string, readonly Place[]>> {
  const groups = new Map<string, Place[]>();
  await each(places, (place) => {
    const own = groups.get(place.repository);
    if (own === undefined) groups.set(place.repository, [place]);
    else own.push(place);
  });
  return groups;
}

/** One mention of a version: a place that runs it, or that should. */
interface Mention {
  readonly place: Place;
  readonly isWanted: boolean;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
  readonly at: string | undefined;
}

function versionsOfOne(repository: string, places: readonly Place[]): RunningVersion[] {
  return groupByVersion(places)
    .map((own) => versionFrom(repository, own))
    .sort((a, b) => newestFirst({ ...a, ...defined({ at: a.firstSeenAt }) }, { ...b, ...defined({ at: b.firstSeenAt }) }));
}

/** The mentions of each version. A tag of which one digest is known is one version, also where the digest is not known. */
function groupByVersion(places: readonly Place[]): Mention[][] {
  const mentions = places.flatMap(mentionsOf);
  const known = new Map<string | undefined, string>();
  const ambiguous = new Set<string>();
  for (const { tag, digest } of mentions) {
    if (digest === undefined || tag === undefined) continue;
    if ((known.get(tag) ?? digest) !== digest) ambiguous.add(tag);
    known.set(tag, digest);
  }
  const keyOf = ({ tag, digest = '' }: Mention) => (tag === undefined || ambiguous.has(tag) ? `${tag ?? ''}@${digest}` : tag);
  return [...Map.groupBy(mentions, keyOf).values()];
}

function mentionsOf(place: Place): Mention[] {
  const { tag, digest, since: at, wants } = place;
  const runs = { place, isWanted: false, tag, digest, at };
  return wants === undefined ? [runs] : [runs, { place, isWanted: true, tag: wants.tag, digest: wants.digest, at: wants.selectedAt }];
}

function versionFrom(repository: string, mentions: readonly Mention[]): RunningVersion {
  const [tag, digest] = [mentions[0]?.tag, mentions.find((one) => one.digest !== undefined)?.digest];
  const [firstSeenAt] = mentions.flatMap(({ at }) => at ?? []).sort((a, b) => Date.parse(a) - Date.parse(b));
  const namespaces = [...Map.groupBy(mentions, ({ place }) => place.workload.namespace)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    repository,
    ...defined({ tag, digest, firstSeenAt }),
    ...countOf(runningOf(mentions)),
    namespaces: namespaces.map(([namespace, own]) => ({
      namespace,
      ...countOf(runningOf(own)),
      isWanted: own.some(({ isWanted }) => isWanted),
    })),
  };
}

function runningOf(mentions: readonly Mention[]): Place[] {
  return mentions.filter(({ isWanted }) => !isWanted).map(({ place }) => place);
}

function countOf(places: readonly Place[]): Counts {
  return { places: countContainers(places), behind: countContainers(places.filter(({ state }) => state === 'Behind')) };
}

function countContainers(places: readonly Place[]): number {
  return new Set(places.map(placeKey)).size;
}
