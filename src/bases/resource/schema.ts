/** BaseImagePolicy v1, which users write and the cluster stores. */
import { z } from 'zod';
import { baseKinds, baseStatusSchema } from '../../core/model/base-policy.ts';
import { fieldOf, has, withChecks, withRules } from '../../service/resources/rules.ts';
import { checkFollowedTag, checkPatterns } from '../../service/resources/validation/check-tags.ts';
import { repositoryField } from '../../service/resources/v1-fields/image.ts';
import { distinct } from '../../service/resources/v1-fields/scalars.ts';
import { select, tags } from '../../service/resources/v1-fields/select.ts';
import { labelSelector } from '../../service/resources/v1-fields/target.ts';
import { mode, waves, windows } from '../../service/resources/v1-fields/update.ts';
import { verify } from '../../service/resources/v1-fields/verify.ts';
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

const signMessage =
  'rebase.sign signs images with whatever is pushed as their base: write verify, so that only a signed base is used, or allow: [BaseUnverified]';

/** `spec`, as users write it. */
export const baseSpecSchema = withChecks(
  withRules(
    z
      .object({
        image: repositoryField('select'),
        select,
        tags: tags.exactOptional(),
        platforms: platforms.exactOptional(),
        minAge: minAge.exactOptional(),
        pullSecrets: pullSecrets.exactOptional(),
        verify: verify.describe('What a base must satisfy before anything is done for it.').exactOptional(),
        workloads: z.array(workloads).min(1).max(32).describe('The workloads whose images are examined.'),
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
        poll: poll.exactOptional(),
        suspend,
      })
      .describe('Which base to watch, whose images may be built on it, and what happens to images on an older base.'),
    [
      {
        rule: "has(self.verify) || !has(self.onNewBase) || self.onNewBase.all(action, !has(action.rebase) || !has(action.rebase.sign) || (has(action.rebase.allow) && 'BaseUnverified' in action.rebase.allow))",
        message: signMessage,
        holds: signsOnlyVerified,
      },
    ],
  ),
  checkFollowedTag,
  checkPatterns,
);

/** What is signed is accepted by others: the base becomes a part of it. */
function signsOnlyVerified(spec: unknown): boolean {
  const actions = fieldOf(spec, 'onNewBase');
  if (has(spec, 'verify') || !Array.isArray(actions)) return true;
  return actions.every((action: unknown) => {
    const rebase = fieldOf(action, 'rebase');
    const allowed = fieldOf(rebase, 'allow');
    return !has(rebase, 'sign') || (Array.isArray(allowed) && allowed.includes('BaseUnverified'));
  });
}

/** The whole resource below `metadata`. */
export const baseSchema = withRules(
  z
    .object({ spec: baseSpecSchema.exactOptional(), status: baseStatusSchema.exactOptional() })
    .describe('Finds the images that are built on a base, and brings those on an older one to the selected one.'),
  [
    {
      rule: 'has(self.spec)',
      message: 'write a spec: image, select and workloads',
      holds: (self) => has(self, 'spec'),
    },
  ],
);
