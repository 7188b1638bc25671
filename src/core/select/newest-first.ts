/** Orders the versions of a repository that several policies may select in different ways: none of their strategies decides alone. Pure. */
import { naturalOrder } from './select-tag.ts';
import { compareBuild, parse } from 'semver';

/** A version, with the times that are known of it. */
export interface Dated {
  readonly tag?: string;
  readonly digest?: string;
  /** When the version was first seen, RFC 3339. */
  readonly at?: string;
}

/** Compares two versions: semantic versions first, the highest first; then all others by their time, the newest first, and by name. A total order. */
export function newestFirst(a: Dated, b: Dated): number {
  const [one, other] = [parse(a.tag), parse(b.tag)];
  if (one === null || other === null) {
    if (one !== other) return one === null ? 1 : -1;
    return timeOf(b) - timeOf(a) || byName(b, a);
  }
  return compareBuild(other, one) || byName(b, a);
}

function byName(a: Dated, b: Dated): number {
  return naturalOrder(a.tag ?? '', b.tag ?? '') || naturalOrder(a.digest ?? '', b.digest ?? '');
}

function timeOf({ at = '' }: Dated): number {
  const time = Date.parse(at);
  return Number.isNaN(time) ? 0 : time;
}
