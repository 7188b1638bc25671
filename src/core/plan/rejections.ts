import { isSameWhole, wholeDigest } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import { parseRejection, type RequestedAction } from '../model/policy-actions.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import { maxListed, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';
import { formatWorkload, type WorkloadRef } from '../model/workload.ts';

type Whole = Pick<Candidate, 'digest' | 'setDigest'>;

/** The rejection of an image; undefined if there is none. */
export function findRejection({ rejected = [] }: PolicyStatus, image: Whole): RejectedImage | undefined {
  return image.digest === undefined ? undefined : rejected.find((one) => isRejectionOf(one, image));
}

/** Whether a rejection is of this image. One of a set is of that set alone: with another companion, the image may be tried. One without a set is of all. */
export function isRejectionOf(rejected: RejectedImage, image: Whole): boolean {
  return rejected.digest === image.digest && (rejected.setDigest === undefined || rejected.setDigest === image.setDigest);
}

/** Adds an image to the rejected ones, the latest first; each is listed once. */
export function addRejection(rejected: readonly RejectedImage[], image: RejectedImage): RejectedImage[] {
  return [image, ...rejected.filter((one) => !isSameWhole(one, image))].slice(0, maxListed);
}

/** Whether somebody decided against the image. Nothing has failed then, and nothing that happens later disproves the rejection. */
export function isDecision({ reason }: RejectedImage): boolean {
  return reason === 'RollbackRequested' || reason === 'RejectedByUser';
}

/** The rejection of the candidate that somebody has requested, and that the status does not record yet: who rejects it, and why. */
export function openRejection(
  {
    actions,
    requested,
    status,
  }: Partial<Pick<ImagePolicy, 'actions' | 'requested'>> & {
    readonly status?: { readonly lastHandledRejection?: string };
  },
  { tag, digest, setDigest }: Candidate,
): Omit<RejectedImage, 'at'> | undefined {
  const image = parseRejection(actions?.reject);
  if (image === undefined || image.tag !== tag || actions?.reject === status?.lastHandledRejection) return undefined;
  if (digest === undefined || image.digest !== wholeDigest({ digest, ...defined({ setDigest }) })) return undefined;
  return { digest, ...defined({ setDigest }), tag, reason: 'RejectedByUser', message: describeDecision(requested) };
}

function describeDecision(requested: RequestedAction | undefined): string {
  if (requested?.action !== 'reject') return 'rejected by annotation';
  const { user, reason } = requested;
  return `rejected by ${user}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Describes a rejection for users: what failed, why, and what to do. */
export function describeRejection({ tag, digest, reason, message }: Omit<RejectedImage, 'at'>): string {
  if (reason === 'RejectedByUser') return `${tag ?? digest} was ${message ?? 'rejected'}. Push something newer`;
  const image = [tag, `(${digest.slice(0, 19)}…)`].filter(Boolean).join(' ');
  return `${image} failed its rollout and is not tried again: ${message ?? 'no reason is known'}. Push a better image`;
}

/** Explains to users that an image is not tried again on a workload on which it failed. It may be tried elsewhere. */
export function describeFailedHere(tag: string, workload: WorkloadRef): string {
  return `${tag} is not tried again on ${formatWorkload(workload)}, where its rollout failed: push a better image, or release it`;
}
