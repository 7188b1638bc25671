/**
 * Remembers the push of an image that is not applied yet, where the status does not show otherwise which one it is: what becomes of the image is recorded with
 * that push. Pure.
 */
import { defined } from '../model/defined.ts';
import { isHeldBack } from '../model/guard-reasons.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import { knownPush, selectingPush } from '../model/is-triggered.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Outcome, Postponement } from '../plan/outcome.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { isOlder } from './is-older.ts';
import type { ReconcileCause } from './next-status.ts';

/**
 * The status with the push of the image that waits, or that the policy is Stalled because of, if something else had found the image before; and with that of an
 * image that is not evaluated yet, because another one waits for its age or the policy is suspended.
 */
export function withAnnounced(
  status: PolicyStatus,
  { spec, status: before }: ImagePolicy,
  result: Outcome | Postponement,
  { eventId, pushed }: ReconcileCause,
): PolicyStatus {
  const { announced, ...others } = status;
  const isKept = announced !== undefined && (isShown(announced, status) || !(isShown(announced, before) || isEvaluated(status, result)));
  const kept = ofWaves(isKept ? { ...others, announced } : others, before);
  if (eventId === undefined || result.kind === 'postponed') return kept;
  const stopped = stoppedImage(result);
  const isUnevaluated = result.kind === 'suspended' || (waitsForAge(status) && stopped !== undefined && stopped.tag !== pushed?.tag);
  const isNext = isUnevaluated && pushed !== undefined && isUsable(spec) && spec.strategy.reject(pushed.tag) === undefined;
  const image = isNext ? pushed : stopped;
  if (image === undefined || (isNext && isKept && isOlder(spec, image.tag, announced.tag))) return kept;
  if (!isNext && (!isShown(image, status) || knownPush(kept, image) !== undefined)) return kept;
  const { tag, digest } = image;
  const isKnown = isKept && announced.tag === tag && announced.digest === digest;
  return isKnown ? kept : { ...others, announced: { tag, ...defined({ digest }), event: eventId } };
}

/** Keeps the push of an image that is applied in waves, of which each replaces the trigger: what becomes of the later ones is the push's as well. */
function ofWaves(status: PolicyStatus, before: PolicyStatus): PolicyStatus {
  const { waiting } = status;
  if (!isWaveWait(waiting) || waiting.tag === undefined) return status;
  const { tag, digest } = waiting;
  const image = { tag, ...defined({ digest }) };
  if (selectingPush(status, image, 'WaitOver') !== undefined) return status;
  const event = selectingPush(before, image, 'WaitOver');
  return event === undefined ? status : { ...status, announced: { ...image, event } };
}

/** Whether all images were evaluated, so that one that is neither selected nor waits is given up. */
function isEvaluated(status: PolicyStatus, result: Outcome | Postponement): boolean {
  if (result.kind === 'postponed' || result.selection === undefined || result.selection.isNamed === true) return false;
  return !waitsForAge(status);
}

/** The image that something keeps from its targets. */
function stoppedImage({ kind, reason, tag, digest, refused }: Outcome): Candidate | undefined {
  if (kind === 'stalled') return refused && { tag: refused.tag, ...defined({ digest: refused.digest }) };
  return tag !== undefined && isHeldBack({ kind, reason }) ? { tag, ...defined({ digest }) } : undefined;
}

function isShown({ tag, digest }: Candidate, { latest, waiting, refused }: PolicyStatus): boolean {
  return [latest, waiting, refused].some((one) => one?.tag === tag && (digest === undefined || one.digest === digest));
}

/** While an image waits for its age, newer ones wait behind it (`plan/pending-candidate.ts`). */
function waitsForAge({ waiting }: PolicyStatus): boolean {
  return waiting?.tag !== undefined && waiting.reason === 'MinAge';
}
