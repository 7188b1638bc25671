/** The end of a scan for vulnerabilities, as a registry announced it: the pushes that waited for it may be pulled now. */
import { isDigest, isTag, tryNormaliseRepository, type Repository } from './image-reference.ts';
import type { IgnoredPush, PushContext, PushEvent } from './push-event.ts';

/** What a provider reads of a scan that has ended, whatever it found: names as the sender wrote them. */
export interface ClaimedScan {
  /** The sender's name of the event. */
  readonly type: string;
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** A scan that has ended, in normal form. A hint: it only starts pushes earlier. */
export interface ScanEvent {
  readonly receiver: string;
  readonly repository: Repository;
  readonly tag?: string;
  readonly digest?: string;
}

/** How long a push waits for a scan that is not announced. */
export const scanWaitMs = 600_000;

/** Normalises what a provider read: a ScanEvent, or why it is ignored. */
export function acceptScan(
  { type, registry, repository: path, tag, digest }: ClaimedScan,
  { receiver, registryOverride, aliases }: Pick<PushContext, 'receiver' | 'registryOverride' | 'aliases'>,
): ScanEvent | IgnoredPush {
  const host = registryOverride ?? registry;
  const repository = host === undefined ? undefined : tryNormaliseRepository(host, path, aliases);
  if (repository === undefined)
    return { code: host === undefined ? 'NoRegistry' : 'InvalidName', reason: `the scan names no repository: ${type}`, repository: path };
  return {
    receiver,
    repository,
    ...(tag !== undefined && isTag(tag) && { tag }),
    ...(digest !== undefined && isDigest(digest) && { digest }),
  };
}

/** Whether a claimed scan was accepted. */
export function isScanEvent(scan: ScanEvent | IgnoredPush): scan is ScanEvent {
  return 'receiver' in scan;
}

type Named = Pick<PushEvent, 'tag' | 'digest'>;

/**
 * Of the pushes of one repository that wait, those that a scan lets start: of its digest, or, where one of the two has none, of its tag. Which digest a push without one
 * has is not known, so it starts as well. If none is of the digest, all start, because the parts of an image for several platforms are scanned one by one. A push
 * that starts too early is refused by the registry, and repeated.
 */
export function startedByScan<T extends Named>(waiting: readonly T[], scan: Pick<ScanEvent, 'tag' | 'digest'>): readonly T[] {
  const exact = waiting.filter((push) => isScanned(push, scan));
  if (exact.length === 0) return waiting;
  return waiting.filter((push) => exact.includes(push) || (push.digest === undefined && scan.tag === undefined));
}

function isScanned(push: Named, scan: Pick<ScanEvent, 'tag' | 'digest'>): boolean {
  return push.digest !== undefined && scan.digest !== undefined ? push.digest === scan.digest : push.tag === scan.tag;
}

/** Whether one of the scans of its repository was of this push, as far as the push says what it is. */
export function wasScanned(push: Named, scans: readonly Pick<ScanEvent, 'tag' | 'digest'>[]): boolean {
  return push.digest === undefined ? scans.length > 0 : scans.some((scan) => isScanned(push, scan));
}
