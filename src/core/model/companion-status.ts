/** The parts of a status about images that are changed together (`companions.ts`). */
import { z } from 'zod';
import { digest, image, tag, text, time } from './status-fields.ts';

/** The most images in `spec.alongside`, and the most of their containers in a workload. */
export const maxCompanions = 8;
export const maxCompanionContainers = 16;

/** The digest of an image and its companions together. */
export const setDigest = digest(
  'The digest of the set with the companions (spec.alongside): the SHA-256 of its images, each as a line REPOSITORY@DIGEST.',
).exactOptional();

/** The companions of the selected image. */
export const companions = z
  .array(
    z
      .object({
        image: text(255, 'The repository of the companion.'),
        tag: tag('The tag of the companion.'),
        digest: digest('The digest that the tag pointed to.'),
      })
      .describe('The image of a companion (spec.alongside).'),
  )
  .max(maxCompanions)
  .exactOptional()
  .describe('The companions that belong to it.');

/** The changes of companions, in the entry of the change that they belong to. */
export const alongside = z
  .array(
    z
      .object({
        container: text(71, 'The container.'),
        from: image('The previous image.'),
        to: image('The new image.'),
      })
      .describe('The change of a companion (spec.alongside).'),
  )
  .max(maxCompanionContainers)
  .exactOptional()
  .describe('The companions that were changed in the same patch.');

/** The image that waits for approval. */
export const pendingApproval = z
  .object({
    tag: tag('The tag that waits for approval.'),
    digest: digest('The digest that waits for approval; with companions, the digest of their set.'),
    images: z
      .array(image('The image, as REPOSITORY@DIGEST.'))
      .max(maxCompanions + 1)
      .exactOptional()
      .describe('The images of the set that waits for approval, the own one first; only with companions.'),
  })
  .exactOptional()
  .describe('The image that waits for approval.');

/** An image of which companions are missing. */
export const incompleteImage = z
  .object({
    tag: tag('The tag.'),
    digest: digest('The digest that the tag pointed to.').exactOptional(),
    missing: z.array(image('What is missing.')).max(maxCompanions).describe('The companions that the registry does not hold.'),
    since: time('When the policy first saw it without them: spec.alongside.within counts from here.'),
  })
  .describe('An image that waits for companions, or was passed over because they did not come.');
