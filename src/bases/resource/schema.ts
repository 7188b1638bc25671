/** The schema of BaseImagePolicy v1, which users write and the cluster stores. */
import { z } from 'zod';
import { baseKinds } from '../../core/model/base-policy.ts';
import { baseStatusSchema } from '../../core/model/base-status.ts';
import { withChecks, withRules } from '../../service/resources/rules.ts';
import { checkFollowedTag, checkPatterns } from '../../service/resources/validation/check-tags.ts';
import { repositoryField } from '../../service/resources/v1-fields/image.ts';
import { distinct, durationPattern } from '../../service/resources/v1-fields/scalars.ts';
import { baseSelect, tags } from '../../service/resources/v1-fields/select.ts';
import { labelSelector } from '../../service/resources/v1-fields/target.ts';
import { approvals, approvalsRule, mode, waves, windows } from '../../service/resources/v1-fields/update.ts';
import { verifyBase } from '../../service/resources/v1-fields/verify.ts';
import { minAge, platforms, poll, pullSecrets, suspend } from '../../service/resources/v1-fields/watch.ts';
import { action, checkReachable } from './actions.ts';

const workloads = z
  .object({
    namespaceSelector: labelSelector(
      'Namespace',
      "Selects namespaces by their labels; by default the policy's own. Others need the consent of their owners.",
    ).exactOptional(),
    selector: labelSelector('workload', 'Selects workloads by their labels; by default all.').exactOptional(),
    kinds: distinct(
      z
        .array(z.enum(baseKinds).describe('A kind.'))
        .min(1)
        .max(baseKinds.length)
        .describe(`The kinds of workloads; by default ${baseKinds.join(', ')}.`),
    ).exactOptional(),
  })
  .describe('Workloads whose images are examined.');

/** Policies are looked through once a minute, so a shorter interval could not be kept. */
const basePoll = withRules(poll, [
  {
    rule: `!has(self.interval) || !self.interval.matches('[0-9]') || !self.interval.matches('${durationPattern}') || duration(self.interval) >= duration('1m')`,
    message: 'write an interval of at least 1m: a base is polled once a minute at most',
  },
]);

const signMessage =
  'rebase.sign signs images with whatever is pushed as their base: write verify, so that only a signed base is used, or allow: [BaseUnverified]';

/** The schema of `spec`, as users write it. */
export const baseSpecSchema = withChecks(
  withRules(
    z
      .object({
        image: repositoryField('select'),
        select: baseSelect,
        tags: tags.exactOptional(),
        from: distinct(
          z
            .array(
              z
                .string()
                .min(1)
                .max(128)
                .regex(/^[A-Za-z0-9_.*-]+$/)
                .describe('A pattern of tags, in which `*` stands for any characters: "17.*".'),
            )
            .min(1)
            .max(16)
            .describe(
              'Tags of the same repository that count as older versions of the base, although select does not admit them. Applications on other versions are of another line and stay where they are.',
            ),
        ).exactOptional(),
        basesBetween: z
          .enum(['Follow', 'Skip'])
          .default('Follow')
          .describe(
            'What happens to an application that is built on this base through another one with a BaseImagePolicy of its own. Follow: that base is brought forward first, and its own policy then brings the application. Skip: the application is brought forward directly.',
          ),
        platforms: platforms.exactOptional(),
        minAge: minAge.exactOptional(),
        pullSecrets: pullSecrets.exactOptional(),
        verify: verifyBase.exactOptional(),
        workloads: z
          .array(workloads)
          .min(1)
          .max(32)
          .describe(
            "The workloads whose images are examined; by default all of the policy's namespace, and all of other namespaces whose owners consent.",
          )
          .exactOptional(),
        onNewBase: withChecks(
          z
            .array(action)
            .min(1)
            .max(32)
            .describe('What happens to an image that is behind: the first action that applies to it. Without one, it is only reported.'),
          checkReachable,
        ).exactOptional(),
        waves: waves.exactOptional(),
        windows: windows.exactOptional(),
        mode,
        approvals: approvals.exactOptional(),
        poll: basePoll.exactOptional(),
        suspend,
      })
      .describe('Which base to watch, whose images may be built on it, and what happens to images on an older base.'),
    [
      // What is signed is accepted by others: the base becomes a part of it.
      {
        rule: "has(self.verify) || !has(self.onNewBase) || self.onNewBase.all(action, !has(action.rebase) || !has(action.rebase.sign) || (has(action.rebase.allow) && 'BaseUnverified' in action.rebase.allow))",
        message: signMessage,
      },
      approvalsRule,
    ],
  ),
  checkFollowedTag,
  checkPatterns,
);

/** The schema of the whole resource except `metadata`. */
export const baseSchema = withRules(
  z
    .object({ spec: baseSpecSchema.exactOptional(), status: baseStatusSchema.exactOptional() })
    .describe('Finds the images that are built on a base, and brings those on an older one to the selected one.'),
  [
    {
      rule: 'has(self.spec)',
      message: 'write a spec: image and select',
    },
  ],
);
