import type { ImagePolicy } from './image-policy.ts';
import type { PolicyStatus } from './policy-status.ts';

/** Writes what `update` makes of the newest status of a policy; writes nothing when it returns undefined. `eventId`: the push that led to it. */
export type WriteStatus = (
  policy: ImagePolicy,
  update: (status: PolicyStatus) => PolicyStatus | undefined,
  signal: AbortSignal,
  eventId?: string,
) => Promise<void>;
