/** The approvals of several people in the status of an ImagePolicy: of which image, by whom, and what is missing. */
import { z } from 'zod';
import { count, digest, tag, text, time } from './status-fields.ts';

/** The maximum number of listed approvals; no policy asks for more than 10. */
const maxApprovals = 32;

const approvedBy = {
  user: text(253, 'Who approves it, as the API server knows him.'),
  at: time('When, as he says.'),
};
/** Schema of the approvals of one image. */
export const approvalRound = z
  .object({
    tag: tag('The tag that waits for approval, or was approved.'),
    digest: digest('Its digest.'),
    since: time('Earlier approvals do not count.'),
    generation: count('The generation of the policy for which they count.'),
    required: z.int().min(1).describe('How many people have to approve it.'),
    given: z
      .array(
        z
          .object({
            ...approvedBy,
            seenAt: time('When the service saw it.'),
            reason: text(300, 'Why, if he says so.').exactOptional(),
          })
          .describe('An approval that counts.'),
      )
      .max(maxApprovals)
      .exactOptional()
      .describe('The approvals that count.'),
    uncounted: z
      .array(
        z
          .object({
            ...approvedBy,
            why: z
              .enum(['Expired', 'Earlier', 'Future', 'Author', 'AuthorUnknown'])
              .describe(
                'Expired: it was given too long ago. Earlier: before the image waited, or before the policy was changed. Future: its time is in the future. Author: he last changed the policy. AuthorUnknown: the policy does not say who did.',
              ),
          })
          .describe('An approval that does not count.'),
      )
      .max(maxApprovals)
      .exactOptional()
      .describe('The approvals that do not count.'),
    until: time('When the first approval ends if the others do not come.').exactOptional(),
  })
  .describe('The approvals of the selected image; only with update.approvals.');

/** The approvals of an image of a policy that asks for several people. */
export type ApprovalRound = Readonly<Omit<z.output<typeof approvalRound>, 'given' | 'uncounted'>> & {
  readonly given?: readonly SeenApproval[];
  readonly uncounted?: readonly UncountedApproval[];
};
export type SeenApproval = Readonly<NonNullable<z.output<typeof approvalRound>['given']>[number]>;
export type UncountedApproval = Readonly<NonNullable<z.output<typeof approvalRound>['uncounted']>[number]>;
