import { maxListed, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';
import { formatWorkload, type WorkloadRef } from '../model/workload.ts';

/** The rejection of a digest; undefined if there is none. */
export function findRejection({ rejected = [] }: Pick<PolicyStatus, 'rejected'>, digest: string | undefined): RejectedImage | undefined {
  return digest === undefined ? undefined : rejected.find((image) => image.digest === digest);
}

/** Adds an image to the rejected ones, the latest first; each digest is listed once. */
export function addRejection(rejected: readonly RejectedImage[], image: RejectedImage): RejectedImage[] {
  return [image, ...rejected.filter(({ digest }) => digest !== image.digest)].slice(0, maxListed);
}

/** Describes a rejection for users: what failed, why, and what to do. */
export function describeRejection({ tag, digest, message }: RejectedImage): string {
  const image = [tag, `(${digest.slice(0, 19)}…)`].filter(Boolean).join(' ');
  return `${image} failed its rollout and is not tried again: ${message ?? 'no reason is known'}. Push a better image`;
}

/** Explains to users that an image is not tried again on a workload on which it failed. It may be tried elsewhere. */
export function describeFailedHere(tag: string, workload: WorkloadRef): string {
  return `${tag} is not tried again on ${formatWorkload(workload)}, where its rollout failed: push a better image, or release it`;
}
