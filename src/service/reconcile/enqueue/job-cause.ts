/** Builds the causes that are part of job ids. Replicas that see the same state make the same jobs. */
import { hashId } from '../../../core/model/push-event.ts';
import { toSeconds } from '../../../core/model/text.ts';
import type { Workload } from '../../../core/model/workload.ts';

const maxCauseLength = 1_000;

/**
 * The minute that is part of a cause, for jobs that are needed until the status shows the present state. They are made again each minute, because the replica
 * that took the previous one may have another configuration, or may not have seen the change yet.
 */
export function minuteOf(now: Date): string {
  return toSeconds(now).slice(0, 16);
}

/** Shortens the versions in a cause, because a selector may match hundreds of workloads. */
export function shorten(versions: string): string {
  return versions.length <= maxCauseLength ? versions : hashId([versions]);
}

/** The versions of a workload and of its annotation. For most kinds, an annotation does not increase the generation (for Deployments it does). */
export function versionOf({ uid, generation, allowPoliciesFrom }: Workload, reason: string): string {
  return reason === 'NoConsent' ? `${uid}:${generation}:${allowPoliciesFrom ?? ''}` : `${uid}:${generation}`;
}
