/** What people have asked of a policy, as the answers have it. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import { actionKeys, type ActionName, type PolicyActions } from '../../core/model/policy-actions.ts';

/** The annotations of an ImagePolicy. */
export const actionsView = z
  .object({
    approve: z.string().exactOptional(),
    reject: z.string().exactOptional(),
    rollbackTo: z.string().exactOptional(),
    release: z.string().exactOptional(),
    promote: z.string().exactOptional(),
    requestedAt: z.string().exactOptional(),
    hold: z
      .object({ at: z.string().exactOptional(), user: z.string().exactOptional(), reason: z.string().exactOptional() })
      .exactOptional()
      .describe('What keeps the policy at what it runs: since when, by whom and why. A `release` since then has ended it.'),
  })
  .describe('What users have asked for, by annotation.');

/** The last request of a policy, as the API shows it. */
export const requestedView = z
  .object({
    action: z.enum(Object.keys(actionKeys) as [ActionName, ...ActionName[]]),
    user: z.string(),
    reason: z.string().exactOptional(),
  })
  .exactOptional()
  .describe('The last action that was requested by the API or a command and still holds, who requested it, and why if that was said.');

/** The approvals of several people are shown where they are counted. */
export function shownActions(actions: PolicyActions): Immutable<z.output<typeof actionsView>> {
  const { approvals: _, ...shown } = actions;
  return shown;
}
