import type { Reason } from './reasons.ts';

/** Why guards keep a selected image from its targets until a time or a decision, also where the outcome is that nothing was changed. */
export const heldReasons: ReadonlySet<string> = new Set<Reason>([
  'ApprovalRequired',
  'ChangeReverted',
  'CheckPending',
  'CompanionMissing',
  'Held',
  'MoreVulnerable',
  'NotProven',
  'OnHold',
  'RolloutRetry',
  'TargetPaused',
  'TooManyChanges',
  'UnlikelyVersion',
  'VulnerabilitiesUnknown',
  'WavePause',
  'WavePending',
  'Window',
]);

/** Whether an outcome is that a guard keeps a selected image from its targets. */
export function isHeldBack({ kind, reason }: { readonly kind: string; readonly reason: string }): boolean {
  return kind === 'waiting' || (kind === 'unchanged' && heldReasons.has(reason));
}
