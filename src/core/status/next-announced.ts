/** Remembers the push of an image that the policy had found before the push was announced, such as by a poll: what becomes of the image is that of the push as well. Pure. */
import { defined } from '../model/defined.ts';
import { isHeldBack } from '../model/held-reasons.ts';
import type { Candidate } from '../model/image-reference.ts';
import { selectingPush } from '../model/is-triggered.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import type { ReconcileCause } from './next-status.ts';

/** The status with the push of the image that waits, or that the policy is Stalled because of, if the status does not know it otherwise. */
export function withAnnounced(status: PolicyStatus, result: Outcome | Postponement, { eventId }: ReconcileCause): PolicyStatus {
  const { announced, ...others } = status;
  const kept = announced !== undefined && isShown(announced, status) ? { ...others, announced } : others;
  const image = eventId === undefined || result.kind === 'postponed' ? undefined : stoppedImage(result);
  if (image === undefined || eventId === undefined || !isShown(image, status)) return kept;
  return selectingPush(kept, image, undefined) !== undefined ? kept : { ...others, announced: { ...image, event: eventId } };
}

/** The image that something keeps from its targets. */
function stoppedImage({ kind, reason, tag, digest, refused }: Outcome): Pick<Candidate, 'tag' | 'digest'> | undefined {
  if (kind === 'stalled') return refused && { tag: refused.tag, ...defined({ digest: refused.digest }) };
  return tag !== undefined && isHeldBack({ kind, reason }) ? { tag, ...defined({ digest }) } : undefined;
}

function isShown({ tag, digest }: Pick<Candidate, 'tag' | 'digest'>, { latest, waiting, refused }: PolicyStatus): boolean {
  return [latest, waiting, refused].some((one) => one?.tag === tag && one.digest === digest);
}
