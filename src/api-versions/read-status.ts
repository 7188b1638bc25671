import { z } from 'zod';
import type { PolicyStatus } from '../model/policy-status.ts';
import { condition } from './condition.ts';
import { statusSchema } from './v1-status.ts';

/** Times of other writers may be written in ways that the schema of zod is too strict for; they are only carried along. */
const lenientCondition = condition.extend({ lastTransitionTime: z.string() });
const { shape } = statusSchema;
const readable = z.looseObject({
  observedGeneration: z.number().optional().catch(undefined),
  conditions: z.array(lenientCondition).optional().catch(undefined),
  latest: shape.latest.catch(undefined),
  trigger: shape.trigger.catch(undefined),
  lastCheckTime: z.string().optional().catch(undefined),
  lastHandledRequest: shape.lastHandledRequest.catch(undefined),
  lastHandledRollback: shape.lastHandledRollback.catch(undefined),
  waiting: shape.waiting.catch(undefined),
  targets: shape.targets.catch(undefined),
  targetCounts: shape.targetCounts.catch(undefined),
  rollouts: shape.rollouts.catch(undefined),
  lastAppliedTag: shape.lastAppliedTag.catch(undefined),
  history: shape.history.catch(undefined),
  rejected: shape.rejected.catch(undefined),
  reverted: shape.reverted.catch(undefined),
  pendingApproval: shape.pendingApproval.catch(undefined),
});

/**
 * Reads `status`. Fields of another shape are as good as absent; those that are not known are kept, because a status is written back. A generation that the
 * object has not reached was observed before it was restored from a backup, and is as good as absent, too.
 */
export function readStatus(raw: unknown, generation = Number.POSITIVE_INFINITY): PolicyStatus {
  const parsed = readable.safeParse(raw ?? {});
  if (!parsed.success) return {};
  const { observedGeneration = 0, ...rest } = parsed.data;
  // A round trip drops what is undefined.
  return JSON.parse(JSON.stringify(observedGeneration > generation ? rest : parsed.data)) as PolicyStatus;
}
