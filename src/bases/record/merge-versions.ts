/** Joins what replicas have seen of a base. Pure. */
import { inSlices } from '../../core/async/in-parallel.ts';
import { maxPlatforms } from '../recognize/facts.ts';
import { maxInRecord, maxTags, type SeenVersion } from './seen-version.ts';

/** All versions of both lists. Of a version that both have, all tags are kept, and the earlier time. */
export function mergeVersions(known: readonly SeenVersion[], added: readonly SeenVersion[]): SeenVersion[] {
  const all = new Map(known.map((version) => [version.digest, version]));
  for (const version of added) {
    const before = all.get(version.digest);
    all.set(version.digest, before === undefined ? withFewTags(version) : join(before, version));
  }
  return [...all.values()];
}

function join(before: SeenVersion, now: SeenVersion): SeenVersion {
  const isSelected = before.selected === true || now.selected === true;
  const isUsed = before.used === true || now.used === true;
  return withFewTags({
    ...before,
    ...now,
    tags: [...new Set([...now.tags, ...before.tags])],
    platforms: unite(before.platforms, now.platforms),
    seenAt: before.seenAt < now.seenAt ? before.seenAt : now.seenAt,
    ...(isSelected && { selected: true as const }),
    ...(isUsed && { used: true as const }),
  });
}

/** The content of a digest never changes, but a replica that cannot read all of it knows fewer platforms, names or layers. */
function unite(before: SeenVersion['platforms'], now: SeenVersion['platforms']): SeenVersion['platforms'] {
  const all = [...before];
  for (const one of now) {
    const index = all.findIndex(
      ({ digest, platform }) => digest === one.digest && (platform === one.platform || !platform || !one.platform),
    );
    const known = all[index];
    if (known === undefined) all.push(one);
    else all[index] = { ...one, ...known, platform: known.platform || one.platform };
  }
  return all.slice(0, maxPlatforms);
}

function withFewTags(version: SeenVersion): SeenVersion {
  return version.tags.length <= maxTags ? version : { ...version, tags: version.tags.slice(0, maxTags) };
}

/** At most `max` versions, or all that running images are or were built on if these are more. Images that cannot be read now, and pods that outlive their tag, are on these. The policy's selections stay before others, the newest first. */
export function boundVersions(versions: readonly SeenVersion[], max: number, inUse: ReadonlySet<string>): SeenVersion[] {
  if (versions.length <= max) return [...versions];
  const isNeeded = ({ digest, used }: SeenVersion) => used === true || inUse.has(digest);
  const rank = (version: SeenVersion) => (isNeeded(version) ? 0 : version.selected === true ? 1 : 2);
  const needed = versions.filter(isNeeded).length;
  const kept = versions
    .toSorted((a, b) => rank(a) - rank(b) || (a.seenAt > b.seenAt ? -1 : Number(a.seenAt < b.seenAt)))
    .slice(0, Math.max(max, needed));
  const digests = new Set(kept.map(({ digest }) => digest));
  return versions.filter(({ digest }) => digests.has(digest));
}

/** The size of the versions of one record, as JSON. etcd refuses objects of more than 1.5 MB. */
const maxBytes = 900_000;

/**
 * The versions of each record. A version stays in the record where it is, so that a new one changes one record only; it moves if its record has become too
 * large. `records` are those that exist, in their order; further ones may follow.
 */
export function shareOut(versions: readonly SeenVersion[], records: readonly (readonly SeenVersion[])[]): SeenVersion[][] {
  const left = new Map(versions.map((version) => [version.digest, version]));
  const shares = records.map((record) => {
    const share: Share = { versions: [], bytes: 0, isOverfull: false };
    for (const { digest } of record) {
      const version = left.get(digest);
      if (version === undefined) continue;
      if (!put(version, share)) share.isOverfull = true;
      else left.delete(digest);
    }
    return share;
  });
  for (const version of left.values()) {
    if (shares.some((share) => !share.isOverfull && put(version, share))) continue;
    shares.push({ versions: [version], bytes: sizeOf(version), isOverfull: false });
  }
  return shares.map((share) => share.versions);
}

interface Share {
  readonly versions: SeenVersion[];
  bytes: number;
  /** Whether a version had to leave it. It then takes no other one, so that no two records exchange versions. */
  isOverfull: boolean;
}

/** Whether the share has taken the version. */
function put(version: SeenVersion, share: Share): boolean {
  const bytes = share.bytes + sizeOf(version);
  const isFull = share.versions.length > 0 && (share.versions.length >= maxInRecord || bytes > maxBytes);
  if (!isFull) {
    share.versions.push(version);
    share.bytes = bytes;
  }
  return !isFull;
}

/** Computes the sizes of versions before they are shared out: those of thousands take longer than a turn of the event loop may. */
export function measureVersions(versions: readonly SeenVersion[], signal: AbortSignal): Promise<void> {
  return inSlices(versions, signal, (version) => void sizeOf(version));
}

const sizes = new WeakMap<SeenVersion, number>();

/** The size of a version as JSON, whose characters are all ASCII. It is computed once, because a version that is new is compared with several shares. */
function sizeOf(version: SeenVersion): number {
  const size = sizes.get(version) ?? JSON.stringify(version).length + 1;
  sizes.set(version, size);
  return size;
}
