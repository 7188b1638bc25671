import type { Reason } from '../model/reasons.ts';

/**
 * Why a selected image is pending, and for each reason when the wait ends. A pending image stays pending whatever else happens to the policy, until a reconcile
 * that evaluated it replaces or removes it. A guard can wait for no other reason. Other waits belong to a job that is retried, and end when it succeeds.
 */
export const waitReasons = {
  MinAge: 'when it is as old as spec.minAge asks for',
  CompanionMissing: 'then it is passed over, unless its companions are pushed before',
  Window: 'when the next window of the policy opens',
  NotProven: 'when the policies that it follows have run it for as long as the policy asks for (select.proven, update.after)',
  TooManyChanges: 'because something changes it back each time: see who else does (another ImagePolicy?)',
  RolloutRetry:
    'when its rollout is tried again: the last one failed for another reason than the image. "image-watcher release" tries it at once',
  RetriesExhausted: 'when it is released',
  WavePending: 'or until the workloads before have rolled out (rollout.waves)',
  WavePause: 'when the pause after the last wave is over (rollout.waves)',
  CheckPending: 'or until its checks have a verdict (rollout.checks)',
  CheckFailed: 'when it is released',
  CheckTimedOut: 'when it is released',
  VulnerabilitiesUnknown: 'when evidence of its vulnerabilities is read again; "image-watcher release" applies it without',
  MoreVulnerable: 'when it is released',
  Held: 'when it is released',
  OnHold: 'when it is released, or its image is promoted',
  RejectedDigest: 'when it is released',
  ChangeReverted: 'when it is released',
  UnlikelyVersion: 'when it is released',
} as const satisfies Partial<Record<Reason, string>>;

export type WaitReason = keyof typeof waitReasons;

/** Whether an image with this reason is pending. */
export function isWaitReason(reason: string): reason is WaitReason {
  return Object.hasOwn(waitReasons, reason);
}
