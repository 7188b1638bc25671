/** What the ids of jobs are made of: replicas that see the same state make the same jobs. */
import { hashId } from '../../../core/model/push-event.ts';
import { toSeconds } from '../../../core/model/text.ts';

const maxCauseLength = 1_000;

/**
 * For jobs that are needed until the status says what is: again each minute, because a replica that has another configuration, or has not heard of the change yet, may
 * have taken the one before.
 */
export function minuteOf(now: Date): string {
  return toSeconds(now).slice(0, 16);
}

/** A selector may match hundreds of workloads. */
export function shorten(versions: string): string {
  return versions.length <= maxCauseLength ? versions : hashId([versions]);
}
