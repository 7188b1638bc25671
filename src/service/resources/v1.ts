/** ImagePolicy v1, which users write and the cluster stores. The definition, the reference and the types are generated from these schemas. */
import { z } from 'zod';
import { storedStatusSchema } from '../../core/model/stored-status.ts';
import { withChecks, withRules } from './rules.ts';
import { alongside, alongsideRule, checkAlongside } from './v1-fields/alongside.ts';
import { repositoryField } from './v1-fields/image.ts';
import { artifact, select, tags } from './v1-fields/select.ts';
import { target } from './v1-fields/target.ts';
import { rollout, update } from './v1-fields/update.ts';
import { unless, verify } from './v1-fields/verify.ts';
import { minAge, platforms, poll, pullSecrets, suspend } from './v1-fields/watch.ts';
import { checkFollowedTag, checkPatterns } from './validation/check-tags.ts';
import { checkAllowedFields, checkArtifact, checkPinnedFields } from './validation/check-target-fields.ts';
import { checkTargetsDiffer } from './validation/check-targets.ts';

/** Schema of `spec`, as users write it. Each check that only code can make is a line below its schema. */
export const specSchema = withChecks(
  withRules(
    z
      .object({
        image: repositoryField('select'),
        artifact: artifact.exactOptional(),
        select,
        tags: tags.exactOptional(),
        alongside: alongside.exactOptional(),
        platforms: platforms.exactOptional(),
        minAge: minAge.exactOptional(),
        minAgeUnless: unless('Which images are applied before they are as old as minAge asks for.').exactOptional(),
        pullSecrets: pullSecrets.exactOptional(),
        targets: withChecks(z.array(target).min(1).max(64).describe('The workloads that are kept up to date.'), checkTargetsDiffer),
        update: update.exactOptional(),
        rollout: rollout.exactOptional(),
        verify: verify.exactOptional(),
        poll: poll.exactOptional(),
        suspend,
      })
      .describe('Which image to watch, how to choose its tag, and which workloads to update.'),
    [
      {
        rule: "!has(self.select) || !has(self.select.digest) || !has(self.update) || !has(self.update.pin) || self.update.pin != 'Tag'",
        message: 'select.digest with update.pin: Tag would never change anything: remove pin, or write Digest',
      },
      {
        rule: "!has(self.update) || !has(self.update.pin) || self.update.pin != 'Tag' || (!has(self.update.after) && (!has(self.select) || !has(self.select.proven)))",
        message: 'a tag may move to an image that nobody has run: with select.proven and update.after, remove pin, or write Digest',
      },
      {
        rule: '!has(self.select) || !has(self.select.proven) || (!has(self.tags) && !has(self.artifact) && !has(self.alongside) && (!has(self.update) || !has(self.update.after)))',
        message: 'select.proven selects images by what other policies run: remove tags, artifact, alongside and update.after',
      },
      alongsideRule,
      {
        rule: '(!has(self.minAgeUnless) && (!has(self.update) || !has(self.update.windowsUnless))) || (has(self.verify) && has(self.verify.vulnerabilities))',
        message: 'write verify.vulnerabilities: without evidence, minAgeUnless and update.windowsUnless would have no effect',
      },
      {
        rule: "!has(self.verify) || !has(self.verify.vulnerabilities) || !has(self.artifact) || self.artifact == 'Image'",
        message: 'verify.vulnerabilities is about images: remove it, or artifact',
      },
    ],
  ),
  checkFollowedTag,
  checkPatterns,
  checkArtifact,
  checkPinnedFields,
  checkAllowedFields,
  checkAlongside,
);

export type Spec = z.input<typeof specSchema>;

export { apiVersion, version } from './group.ts';

/** Schema of the whole resource below `metadata`. Only new objects need a spec, because clusters have stored objects without one. */
export const schema = withRules(
  z
    .object({ spec: specSchema.exactOptional(), status: storedStatusSchema.exactOptional() })
    .describe('Keeps the images of workloads up to date: a push to the repository changes them when the policy selects the tag.'),
  [
    {
      rule: 'has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))',
      message: 'write a spec: image, select and targets',
      optionalOldSelf: true,
    },
  ],
);
