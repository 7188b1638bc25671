/**
 * Remembers the push of an image that is not applied yet, where the status does not show otherwise which one it is: what becomes of the image is recorded with
 * that push. Pure.
 */
import { defined } from '../model/defined.ts';
import { isHeldBack } from '../model/held-reasons.ts';
import type { Candidate } from '../model/image-reference.ts';
import { selectingPush } from '../model/is-triggered.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import type { ReconcileCause } from './next-status.ts';

type Image = Pick<Candidate, 'tag' | 'digest'>;

/**
 * The status with the push of the image that waits, or that the policy is Stalled because of, if something else had found the image before; and with that of an
 * image whose wait begins when the one that waits for its age is applied.
 */
export function withAnnounced(status: PolicyStatus, result: Outcome | Postponement, { eventId, pushed }: ReconcileCause): PolicyStatus {
  const { announced, ...others } = status;
  const isKept = announced !== undefined && (isShown(announced, status) || waitsForAge(status));
  const kept = isKept ? { ...others, announced } : others;
  const stopped = eventId === undefined || result.kind === 'postponed' ? undefined : stoppedImage(result);
  if (stopped === undefined || eventId === undefined) return kept;
  const isBehind = pushed !== undefined && pushed.tag !== stopped.tag && result.kind === 'waiting' && waitsForAge(status);
  const image = isBehind ? pushed : stopped;
  if (!isBehind && (!isShown(image, status) || selectingPush(kept, image, undefined) !== undefined)) return kept;
  const { tag, digest } = image;
  const isKnown = isKept && announced.tag === tag && announced.digest === digest;
  return isKnown ? kept : { ...others, announced: { tag, ...defined({ digest }), event: eventId } };
}

/** The image that something keeps from its targets. */
function stoppedImage({ kind, reason, tag, digest, refused }: Outcome): Image | undefined {
  if (kind === 'stalled') return refused && { tag: refused.tag, ...defined({ digest: refused.digest }) };
  return tag !== undefined && isHeldBack({ kind, reason }) ? { tag, ...defined({ digest }) } : undefined;
}

function isShown({ tag, digest }: Image, { latest, waiting, refused }: PolicyStatus): boolean {
  return [latest, waiting, refused].some((one) => one?.tag === tag && (digest === undefined || one.digest === digest));
}

/** While an image waits for its age, newer ones wait behind it (`plan/pending-candidate.ts`). */
function waitsForAge({ waiting }: PolicyStatus): boolean {
  return waiting?.tag !== undefined && waiting.reason === 'MinAge';
}
