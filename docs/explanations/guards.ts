import type { GuardReason } from '../../src/core/model/guard-reasons.ts';

/** What a guard stops, and how that shows: for the picture in docs/guards.md. */
export const guardTexts: Readonly<Record<string, { readonly stops: string; readonly shownAs: string; readonly reason: GuardReason }>> = {
  'cross-namespace': { stops: 'another namespace, and the configuration denies it', shownAs: 'Stalled', reason: 'CrossNamespaceDenied' },
  consent: { stops: 'another namespace, without consent', shownAs: 'Stalled', reason: 'NoConsent' },
  rewritten: { stops: 'admission replaces this image', shownAs: 'Ready', reason: 'UpToDate' },
  companions: { stops: 'an image that belongs to it is missing', shownAs: 'Reconciling', reason: 'CompanionMissing' },
  rejected: { stops: 'the digest failed, or was rolled back', shownAs: 'Stalled or Held', reason: 'RejectedDigest' },
  retry: {
    stops: 'its rollout failed for another reason than the image, and its pause is not over',
    shownAs: 'Reconciling, or Stalled after the last try',
    reason: 'RolloutRetry',
  },
  held: { stops: 'the image was changed manually', shownAs: 'Held', reason: 'Held' },
  reverted: { stops: 'a GitOps tool reverted it twice', shownAs: 'Stalled', reason: 'ChangeReverted' },
  'unlikely-version': {
    stops: 'the first change, without a range, goes far or to an older image',
    shownAs: 'Held',
    reason: 'UnlikelyVersion',
  },
  paused: { stops: 'the rollouts of the Deployment are paused', shownAs: 'Held', reason: 'TargetPaused' },
  'dry-run': { stops: 'mode: DryRun', shownAs: 'Ready', reason: 'DryRun' },
  proven: { stops: 'a followed policy has not run it for long enough', shownAs: 'Reconciling or Ready', reason: 'NotProven' },
  vulnerabilities: {
    stops: 'more vulnerabilities than the running image, or unknown ones',
    shownAs: 'Held, or Reconciling',
    reason: 'MoreVulnerable',
  },
  approval: { stops: 'mode: Approval, and nobody has approved it', shownAs: 'ApprovalRequired', reason: 'ApprovalRequired' },
  'on-hold': { stops: 'somebody holds the policy at what it runs', shownAs: 'Held', reason: 'OnHold' },
  repeats: { stops: 'the same change too often within an hour', shownAs: 'Reconciling', reason: 'TooManyChanges' },
  window: { stops: 'outside of the update windows', shownAs: 'Reconciling', reason: 'Window' },
  checks: { stops: 'a check before the change has no verdict, or a bad one', shownAs: 'Reconciling, or Held', reason: 'CheckPending' },
  wave: { stops: 'a wave before it has not rolled out, or its pause is not over', shownAs: 'Reconciling', reason: 'WavePending' },
};
