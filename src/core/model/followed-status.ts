/** What the status of a policy says to the policies that follow it, and what a follower has seen of those that it follows. */
import { z } from 'zod';
import { digest, maxLengths, tag, text, time } from './status-fields.ts';

/** The maximum number of policies that one policy may follow. */
export const maxFollowed = 10;

/** The image that all targets run, complete and available. Only policies that another one follows have it. */
const healthySchema = z
  .object({
    tag: tag('The tag with which it was applied, if that is known.').exactOptional(),
    digest: digest('Its digest.'),
    since: time('Since when all of them have run it without an interruption, by the clock of the API server.'),
  })
  .describe('The image that all targets run, complete and available; only of policies that another one follows.');

/** One followed policy, as it was seen when this policy was evaluated last. */
const followedSchema = z
  .object({
    namespace: text(63, 'Namespace of the followed policy.'),
    name: text(253, 'Name of the followed policy.'),
    tag: tag('The tag of the image that it runs, if that is known.').exactOptional(),
    digest: digest('The digest that its targets run, complete and available; absent if there is none.').exactOptional(),
    since: time('Since when they have run it without an interruption.').exactOptional(),
    message: z.string().max(maxLengths.message).exactOptional().describe('Why it does not show an image.'),
  })
  .describe('A followed policy, and the image that its targets run.');

/** The fields of the status of a policy that is followed, or follows others. */
export const followFields = {
  healthy: healthySchema.exactOptional(),
  follows: z.array(followedSchema).max(maxFollowed).exactOptional().describe('The followed policies, as they were seen last.'),
};

/** The image that all targets of a policy run, complete and available, and since when. */
export type HealthyImage = Readonly<z.output<typeof healthySchema>>;
/** What is known of a followed policy: the image that its targets run, complete and available, or why there is none. */
export type Followed = Readonly<z.output<typeof followedSchema>>;
