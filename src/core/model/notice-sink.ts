import type { ImagePolicy } from './image-policy.ts';
import type { IdentifiedNotice } from './notice.ts';
import type { PolicyStatus } from './policy-status.ts';

/** Accepts notices for people, and stores each for the targets that want it. Never rejects. */
export interface NoticeSink {
  /** Reports the changes of a status; called before the status is written. `eventId`: the push that caused it. */
  readonly onPolicyStatus: (policy: ImagePolicy, before: PolicyStatus, after: PolicyStatus, eventId?: string) => Promise<void>;
  /** Adds notices. `labels`: those of the policy that the notices are about. */
  readonly add: (notices: readonly IdentifiedNotice[], labels?: Readonly<Record<string, string>>) => Promise<void>;
}
