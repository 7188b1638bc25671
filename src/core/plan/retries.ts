/**
 * Tries an image again whose rollout failed for another reason than the image, with growing pauses. The rollback records the tries on the workload (`retry` in
 * model/last-update.ts). So the next try depends on the workload alone, whatever happened to this process or to the status.
 */
import { defined } from '../model/defined.ts';
import type { Candidate, ImageReference } from '../model/image-reference.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import { lastUpdateOf, type LastUpdate, type Retry } from '../model/last-update.ts';
import { wholeDigest } from '../model/companions.ts';
import type { Workload } from '../model/workload.ts';
import { isReleased } from './guards/released.ts';

/** The pause after each failed rollout; after one more, the image is not tried again. */
export const retryPausesMs = [60_000, 300_000, 1_500_000] as const;

/** The parts of a policy that decide about retries. */
type RetryOwner = Partial<Pick<ImagePolicy, 'uid' | 'generation' | 'actions'>>;

/** The failed tries of an image on one container that still count. */
export interface FailedTries extends Retry {
  /** When the next try is due; absent if there is none. */
  readonly until?: Date;
}

/** The failed tries of the candidate on a container. Undefined if there were none, or none since the policy was edited or released them. */
export function failedTries(
  { workload, container, candidate }: { readonly workload: Workload; readonly container: string; readonly candidate: Candidate },
  { uid, generation, actions }: RetryOwner,
  now: Date,
): FailedTries | undefined {
  const update = lastUpdateOf(workload, container);
  if (update?.retry === undefined || update.trigger !== 'Rollback' || update.policy !== uid || !isAbout(update, candidate))
    return undefined;
  if (generation !== undefined && update.retry.generation !== generation) return undefined;
  const since = new Date(update.at);
  if (isReleased(since, actions, now)) return undefined;
  const until = nextTry(since, update.retry.failures);
  return { ...update.retry, ...defined({ until }) };
}

/** When an image is tried again after so many failures, given when the last one was rolled back. A whole second, as a status shows it. Undefined if never. */
export function nextTry(since: Date, failures: number): Date | undefined {
  const pauseMs = retryPausesMs[failures - 1];
  return pauseMs === undefined ? undefined : new Date(Math.ceil((since.getTime() + pauseMs) / 1_000) * 1_000);
}

/** The record of one more failed try, for the rollback that follows it. */
export function oneMoreFailure(
  { lastUpdate }: { readonly lastUpdate?: LastUpdate },
  { uid, generation }: Required<Pick<RetryOwner, 'uid' | 'generation'>>,
  why: string,
): Retry {
  const before = lastUpdate?.policy === uid && lastUpdate.retry?.generation === generation ? lastUpdate.retry.failures : 0;
  return { failures: before + 1, generation, why };
}

function isAbout({ failed, from }: LastUpdate, candidate: Candidate): boolean {
  const digest = wholeDigest(candidate);
  if (failed !== undefined && digest !== undefined) return failed === digest;
  const image: ImageReference | undefined = tryParseImageReference(from);
  return image?.tag === candidate.tag;
}
