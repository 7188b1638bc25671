/** How an image ends to wait for approval without being approved, and how approvals end before there are enough. Pure. */
import { wholeDigest } from '../model/companions.ts';
import type { ApprovalRound } from '../model/approval-round.ts';
import type { Reason } from '../model/reasons.ts';
import { whyUncounted } from '../plan/approvals.ts';

/** An image that waits for approvals no longer, and why. */
export interface EndedApproval {
  readonly tag: string;
  readonly digest: string;
  readonly reason: Reason;
  readonly message: string;
}

/** The parts of the status of a policy of either kind that say what waits for approval, and how that can end. */
export interface Awaiting {
  readonly pendingApproval?: Image;
  readonly latest?: { readonly tag: string; readonly digest?: string; readonly setDigest?: string };
  readonly approvals?: ApprovalRound;
  readonly rejected?: readonly Rejected[];
}

/** An image that waits for approvals; with companions, its digest is that of the set. */
interface Image {
  readonly tag: string;
  readonly digest: string;
}

interface Rejected {
  readonly digest: string;
  readonly setDigest?: string;
  readonly at: string;
  readonly reason?: string;
  readonly message?: string;
}

/** What the write of a status ends: the wait of an image that was not approved, or approvals of an image that still waits. Undefined if neither. */
export function endedApproval(before: Awaiting, after: Awaiting): EndedApproval | undefined {
  const { pendingApproval: pending } = before;
  if (pending === undefined) return undefined;
  const now = after.pendingApproval;
  if (now?.digest === pending.digest && now.tag === pending.tag) return endedVotes(before.approvals, after.approvals);
  const image = { tag: pending.tag, digest: pending.digest };
  const lost = namesOf(before.approvals);
  const rejectionIn = ({ rejected = [] }: Awaiting) => rejected.find((one) => wholeDigest(one) === pending.digest);
  const rejection = rejectionIn(after);
  if (rejection?.reason === 'RejectedByUser') {
    const isNew = rejectionIn(before)?.at !== rejection.at;
    return isNew
      ? { ...image, reason: 'RejectedByUser', message: `${pending.tag} was ${rejection.message ?? 'rejected'}${lost}` }
      : undefined;
  }
  const next = now ?? after.latest;
  if (next === undefined || (next.tag === pending.tag && wholeDigest(next) === pending.digest)) return undefined;
  return {
    ...image,
    reason: 'ApprovalSuperseded',
    message: `${next.tag} is selected instead of ${pending.tag}, which was not approved${lost}`,
  };
}

function namesOf(round: ApprovalRound | undefined): string {
  const { given = [] } = round ?? {};
  return given.length === 0 ? '' : `; the approvals of ${given.map(({ user }) => user).join(', ')} end`;
}

function endedVotes(before: ApprovalRound | undefined, after: ApprovalRound | undefined): EndedApproval | undefined {
  const { tag, digest, given = [], generation } = before ?? {};
  if (tag === undefined || digest === undefined) return undefined;
  const counts = ({ user }: { readonly user: string }) => after?.given?.some((one) => one.user === user) === true;
  const ended = given.filter((one) => !counts(one));
  if (ended.length === 0) return undefined;
  const why = ({ user }: { readonly user: string }) => {
    if (after !== undefined && after.generation !== generation) return 'ends, because the policy was changed';
    const found = after?.uncounted?.find((one) => one.user === user);
    return found === undefined ? 'was taken back' : whyUncounted[found.why];
  };
  const message = ended.map((one) => `the approval of ${tag} by ${one.user} ${why(one)}`).join('; ');
  return { tag, digest, reason: 'ApprovalsEnded', message };
}
