import { maxListed, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';

/** What is known of a digest that failed; undefined for one that did not. */
export function findRejection({ rejected = [] }: Pick<PolicyStatus, 'rejected'>, digest: string | undefined): RejectedImage | undefined {
  return digest === undefined ? undefined : rejected.find((image) => image.digest === digest);
}

/** The rejected images with one more, the latest first; a digest is in it once. */
export function addRejection(rejected: readonly RejectedImage[], image: RejectedImage): RejectedImage[] {
  return [image, ...rejected.filter(({ digest }) => digest !== image.digest)].slice(0, maxListed);
}

/** For people: what failed, why, and what to do. */
export function describeRejection({ tag, digest, message }: RejectedImage): string {
  const image = [tag, `(${digest.slice(0, 19)}…)`].filter(Boolean).join(' ');
  return `${image} failed its rollout and is not tried again: ${message ?? 'no reason is known'}. Push a better image`;
}
