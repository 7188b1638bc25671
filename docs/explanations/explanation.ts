/** What a user needs to know about a reason or a condition, in Markdown. Its meaning in one line is in the code. */
export interface Explanation {
  /** Where users see it. */
  readonly shown: string;
  /** How it comes about. */
  readonly cause: string;
  /** What to do, and whether it clears by itself. */
  readonly action: string;
}

/** Phrases for `shown` that many reasons share. */
export const shownAs = {
  stalled: '[`Stalled`](#condition-stalled), a Warning Event of the policy; a push has the outcome `stalled`.',
  retried: '[`Reconciling`](#condition-reconciling) and `status.waiting`, if it lasts for more than 5 s; a push has the outcome `waiting`.',
  pending: '[`Reconciling`](#condition-reconciling), `status.waiting` with the time, an Event; a push has the outcome `waiting`.',
  ignoredEvent:
    'The response to the webhook (as a sentence), `image-watcher events --outcome ignored`, the log at `debug`, `image_watcher_ignored_pushes_total`. No push is stored.',
  ignoredPush: 'The push has the outcome `ignored` for this policy (`image-watcher events`). The conditions do not change.',
  unchangedPush: 'The push has the outcome `unchanged` (`image-watcher events`).',
  rejected:
    '`status.rejected[].reason`, with the message of the pod or of the controller, unless `onFailure` is `Ignore`. The condition has the reason ' +
    '[`RolloutFailed`](#rolloutfailed) or, after a rollback, [`RejectedDigest`](#rejecteddigest).',
} as const;
