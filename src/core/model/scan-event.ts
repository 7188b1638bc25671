/** The end of a vulnerability scan, as a registry announced it. Pushes that waited for the scan may then be pulled, and policies find its report. */
import { isDigest, isTag, tryNormaliseRepository, type Repository } from './image-reference.ts';
import type { IgnoredPush, PushContext, PushEvent } from './push-event.ts';

/** A finished scan as a provider reads it, whatever the scan found, with names as the sender wrote them. */
export interface ClaimedScan {
  /** The event's name as the sender wrote it. */
  readonly type: string;
  readonly registry?: string;
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
  /** Whether the scan ended with a report. */
  readonly hasReport?: boolean;
}

/** A finished scan in normal form. It is a hint: it only starts pushes earlier, and has policies ask for the report. */
export interface ScanEvent {
  readonly receiver: string;
  readonly repository: Repository;
  readonly tag?: string;
  readonly digest?: string;
  readonly hasReport?: boolean;
}

/** How long a push waits for a scan whose end is not announced, in ms. */
export const scanWaitMs = 600_000;

/** Normalises a claimed scan: returns a ScanEvent, or why it is ignored. */
export function acceptScan(
  { type, registry, repository: path, tag, digest, hasReport }: ClaimedScan,
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
    ...(hasReport === true && { hasReport }),
  };
}

/** Whether a claimed scan was accepted. */
export function isScanEvent(scan: ScanEvent | IgnoredPush): scan is ScanEvent {
  return 'receiver' in scan;
}

type Named = Pick<PushEvent, 'tag' | 'digest'>;

/**
 * The waiting pushes of a repository that a scan starts: those of its digest, or, if the push or the scan has no digest, of its tag. A push without a digest
 * may be of any image, so it starts as well. If no push has the digest, all start, because the parts of an image for several platforms are scanned one by one.
 * The registry refuses a push that starts too early, and it is repeated.
 */
export function startedByScan<T extends Named>(waiting: readonly T[], scan: Pick<ScanEvent, 'tag' | 'digest'>): readonly T[] {
  const exact = waiting.filter((push) => isScanned(push, scan));
  if (exact.length === 0) return waiting;
  return waiting.filter((push) => exact.includes(push) || (push.digest === undefined && scan.tag === undefined));
}

function isScanned(push: Named, scan: Pick<ScanEvent, 'tag' | 'digest'>): boolean {
  return push.digest !== undefined && scan.digest !== undefined ? push.digest === scan.digest : push.tag === scan.tag;
}

/** Whether one of the scans of a repository was of the image of this push. For a push without a digest, any scan counts. */
export function wasScanned(push: Named, scans: readonly Pick<ScanEvent, 'tag' | 'digest'>[]): boolean {
  return push.digest === undefined ? scans.length > 0 : scans.some((scan) => isScanned(push, scan));
}
