/**
 * The reasons for which guards (`core/plan/guards/`) stop an image, and what follows from each. A guard that blocks or waits can give no other reason. Whether
 * pages count a reason among the causes of trouble is decided in `service/causes/reason-rules.ts`.
 */
import type { Reason } from './reasons.ts';

/**
 * What follows from a reason.
 *
 * | effect        |                                                                                                         |
 * | ------------- | ------------------------------------------------------------------------------------------------------- |
 * | heldBack      | the image comes later, by itself or by a decision: the result of its push is not final                  |
 * | shownAsHeld   | the policy has the condition Held                                                                       |
 * | endsByRelease | a user can end it with a release (`operator.technomad.dev/release`)                                     |
 * | endsByTarget  | a change of the workload may end it, so the policy is reconciled after one although it is Stalled or Held |
 */
type Effect = 'heldBack' | 'shownAsHeld' | 'endsByRelease' | 'endsByTarget';

const guardReasons = {
  ApprovalRequired: ['heldBack'],
  ChangeReverted: ['heldBack', 'endsByRelease', 'endsByTarget'],
  CheckFailed: ['shownAsHeld', 'endsByRelease'],
  CheckPending: ['heldBack'],
  CheckTimedOut: ['shownAsHeld', 'endsByRelease'],
  CompanionMissing: ['heldBack'],
  CrossNamespaceDenied: [],
  DryRun: [],
  Held: ['heldBack', 'shownAsHeld', 'endsByRelease', 'endsByTarget'],
  MoreVulnerable: ['heldBack', 'shownAsHeld', 'endsByRelease'],
  NoConsent: ['endsByTarget'],
  NotProven: ['heldBack'],
  OnHold: ['heldBack', 'shownAsHeld', 'endsByRelease'],
  PatchRejected: ['endsByTarget'],
  RejectedDigest: ['shownAsHeld', 'endsByRelease'],
  RetriesExhausted: ['endsByRelease'],
  RolloutRetry: ['heldBack', 'endsByRelease'],
  TargetPaused: ['heldBack', 'shownAsHeld', 'endsByTarget'],
  TooManyChanges: ['heldBack'],
  UnlikelyVersion: ['heldBack', 'shownAsHeld', 'endsByRelease', 'endsByTarget'],
  UpToDate: [],
  VulnerabilitiesUnknown: ['heldBack', 'shownAsHeld', 'endsByRelease'],
  WavePause: ['heldBack'],
  WavePending: ['heldBack'],
  Window: ['heldBack'],
} as const satisfies Partial<Record<Reason, readonly Effect[]>>;

/** A reason that a guard can give. */
export type GuardReason = keyof typeof guardReasons;

const effectsOf: Readonly<Record<GuardReason, readonly Effect[]>> = guardReasons;

/** The reasons of guards that have this effect. */
export function reasonsWith(effect: Effect): ReadonlySet<string> {
  return new Set(Object.entries(effectsOf).flatMap(([reason, effects]) => (effects.includes(effect) ? [reason] : [])));
}

const heldBack = reasonsWith('heldBack');
const upToDate: Reason = 'UpToDate';

/** Whether a reason says that a guard stops an image, and not that nothing is to be changed. */
export function isStop(reason: string): boolean {
  return reason !== upToDate && Object.hasOwn(guardReasons, reason);
}

/** Whether an outcome is that a guard keeps a selected image from its targets until a time or a decision. */
export function isHeldBack({ kind, reason }: { readonly kind: string; readonly reason: string }): boolean {
  return kind === 'waiting' || (kind === 'unchanged' && heldBack.has(reason));
}
