import type { ImagePolicy } from './image-policy.ts';
import type { PolicyStatus } from './policy-status.ts';

/** Passes the newest status of a policy to `update` and writes the result; writes nothing if it is undefined. `eventId`: the push that caused the write. */
export type WriteStatus = (
  policy: ImagePolicy,
  update: (status: PolicyStatus) => PolicyStatus | undefined,
  signal: AbortSignal,
  eventId?: string,
) => Promise<void>;
