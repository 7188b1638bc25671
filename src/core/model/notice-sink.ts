import type { ImagePolicy } from './image-policy.ts';
import type { IdentifiedNotice } from './notice.ts';
import type { PolicyStatus } from './policy-status.ts';

/** Takes what is to be reported to people, and stores it for each target that wants it. Never rejects. */
export interface NoticeSink {
  /** What a write of a status is about to report; called before the write. `eventId`: the push that led to it. */
  readonly onPolicyStatus: (policy: ImagePolicy, before: PolicyStatus, after: PolicyStatus, eventId?: string) => Promise<void>;
  /** `labels`: of the policy that the notices are about. */
  readonly add: (notices: readonly IdentifiedNotice[], labels?: Readonly<Record<string, string>>) => Promise<void>;
}
