import { z } from 'zod';
import { fieldOf, has, withChecks, withRules } from './rules.ts';
import { image } from './v1-fields/image.ts';
import { rollout, update } from './v1-fields/update.ts';
import { distinct, duration, name } from './v1-fields/scalars.ts';
import { select, tags } from './v1-fields/select.ts';
import { target } from './v1-fields/target.ts';
import { verify } from './v1-fields/verify.ts';
import { checkAllowedFields, checkPinnedFields } from './validation/check-target-fields.ts';
import { checkFollowedTag, checkPatterns } from './validation/check-tags.ts';
import { checkTargetsDiffer } from './validation/check-targets.ts';
import { statusSchema } from '../model/policy-status.ts';
import { group } from './group.ts';

/** `spec` of ImagePolicy v1, as users write it. The zod schema is the source of the CRD, of the reference and of the types. */

const platform = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9]+)?$/, 'operating system and architecture: "linux/amd64"')
  .describe('A platform such as "linux/amd64" or "linux/arm/v7".');

/** `spec` of a v1 policy. */
export const specSchema = withChecks(
  withRules(
    z
      .object({
        image,
        select,
        tags: tags.optional(),
        platforms: distinct(z.array(platform).max(16).describe('Platforms that the image must have, all of them.')).optional(),
        minAge: duration('How long a digest must have been known before it is used, counted from its first sight.').optional(),
        pullSecrets: z
          .array(z.object({ name: name('Name of the Secret.') }).describe('A Secret of type kubernetes.io/dockerconfigjson.'))
          .max(16)
          .optional()
          .describe('Secrets in the namespace of the policy with which the registry is asked.'),
        targets: withChecks(z.array(target).min(1).max(64).describe('What is kept up to date.'), checkTargetsDiffer),
        update: update.optional(),
        rollout: rollout.optional(),
        verify: verify.optional(),
        poll: z
          .object({
            interval: duration(
              "How often the registry is asked for what no webhook announced; the configuration's poll.interval unless given.",
            ).optional(),
          })
          .optional()
          .describe('The fallback for webhooks that never came.'),
        suspend: z.boolean().default(false).describe('Whether the policy is left alone: nothing is looked at or changed while true.'),
      })
      .describe('What to watch, what to choose and what to update.'),
    [
      {
        rule: "!has(self.select) || !has(self.select.digest) || !has(self.update) || !has(self.update.pin) || self.update.pin != 'Tag'",
        message: 'select.digest with update.pin: Tag would never change anything: remove pin, or write Digest',
        holds: (self) => !has(fieldOf(self, 'select'), 'digest') || fieldOf(fieldOf(self, 'update'), 'pin') !== 'Tag',
      },
    ],
  ),
  checkFollowedTag,
  checkPatterns,
  checkPinnedFields,
  checkAllowedFields,
);

export type Spec = z.input<typeof specSchema>;

/** ImagePolicy v1: what users write, what is stored, and what the code works with. */

export const version = 'v1';
export const apiVersion = `${group}/${version}`;

/** The whole resource below `metadata`. A spec is required of new objects only: clusters hold objects without one. */
export const schema = withRules(
  z
    .object({ spec: specSchema.optional(), status: statusSchema.optional() })
    .describe('Keeps the images of workloads up to date: a push to the repository changes them when the policy selects the tag.'),
  [
    {
      rule: 'has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))',
      message: 'write a spec: image, select and targets',
      optionalOldSelf: true,
      // In code only new objects are result.
      holds: (self) => has(self, 'spec'),
    },
  ],
);
