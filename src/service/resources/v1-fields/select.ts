import { z } from 'zod';
import { artifacts } from '../../../core/model/artifact.ts';
import { maxPatternLength } from '../../../core/model/pattern.ts';
import { withChecks, withRules } from '../rules.ts';
import { checkRange, checkExtract } from '../validation/check-tags.ts';
import { provenBy } from './proven.ts';
import { pattern } from './scalars.ts';

/** Schema of `spec.artifact`. It has no default, because the API server would write it into every policy, and older replicas stall on fields that they do not know. */
export const artifact = z
  .enum(artifacts)
  .describe(
    'What is selected in the repository, as the manifest of each tag shows: by default images that can run. Chart: OCI Helm charts. Any: everything but signatures, attestations and SBOMs. With Chart and Any, each target names fields.',
  );

/** The maximum length of a pattern in v1alpha1, which is converted to a range. */
const maxRange = 512;

const range = withChecks(
  z
    .string()
    .max(maxRange)
    .describe('A range in npm syntax, such as "1.18.*" or ">=1.4 <2" (or ">=1.4, <2"); by default the highest stable version is selected.'),
  checkRange,
);

const semver = z
  .object({
    range: range.exactOptional(),
    prereleases: z
      .boolean()
      .default(false)
      .describe(
        'Whether prereleases of every version in the range are candidates. Without it only those of a version whose prerelease the range names: ">=1.3.0-rc.1" admits 1.3.0-rc.2, but not 1.4.0-rc.1.',
      ),
  })
  .describe('The highest semantic version (semver.org) in a range. A leading "v" is allowed; nothing is coerced: "1.2" is not a version.');

const tag = (what: string) =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'a tag has letters, digits, "_", "." and "-", and does not start with "." or "-"')
    .describe(what);

const digest = z
  .object({ tag: tag('The mutable tag, such as "latest" or "main".') })
  .describe('Follows one mutable tag: the image that it points to is selected.');

const replace = withRules(
  z
    .object({
      from: tag('The tag that is replaced, such as "1.4.2".'),
      to: tag('The tag that replaces it, such as "1.4.2-base.20261123".'),
    })
    .describe(
      'Replaces one tag by another one; containers that run any other tag stay as they are. BaseImagePolicies use it for rebased images.',
    ),
  [{ rule: 'self.from != self.to', message: 'write two different tags' }],
);

const ways = {
  semver: semver.exactOptional(),
  digest: digest.exactOptional(),
  newest: z.object({}).exactOptional().describe('The image that was created last, by its own creation time.'),
  alphabetical: z
    .object({})
    .exactOptional()
    .describe('The last tag in the order of characters, for dates and timestamps of a fixed width.'),
  numerical: z.object({}).exactOptional().describe('The greatest tag by number, for build numbers and timestamps.'),
  replace: replace.exactOptional(),
};

function selectAmong<Ways extends z.ZodRawShape>(among: Ways) {
  const names = Object.keys(among);
  return withRules(z.object(among).describe(`How the tag is chosen among the candidates: exactly one of ${names.join(', ')}.`), [
    {
      rule: `[${names.map((name) => `has(self.${name})`).join(', ')}].filter(x, x).size() == 1`,
      message: `write exactly one of ${names.join(', ')}; for example "semver: {}"`,
    },
  ]);
}

/** Schema of `spec.select` of a BaseImagePolicy: no other policy runs its image. */
export const baseSelect = selectAmong(ways);

/** Schema of `spec.select`. */
export const select = selectAmong({
  ...ways,
  proven: provenBy(
    'The image that other policies run, by its digest, whatever its tag is: the one that all their workloads have run, complete and available, for some time. For production, after staging.',
  ).exactOptional(),
});

/** Schema of `spec.tags`. */
export const tags = withChecks(
  withRules(
    z
      .object({
        allow: pattern('An RE2 expression that must match the whole tag; named groups can be used in extract.').exactOptional(),
        extract: z
          .string()
          .min(1)
          .max(maxPatternLength)
          .exactOptional()
          .describe('The part of the tag that is compared: "$version" is the group "version" of allow. By default the whole tag.'),
        ignore: z
          .array(pattern('An RE2 expression.'))
          .max(32)
          .exactOptional()
          .describe('RE2 expressions; a tag in which one of them is found is not a candidate.'),
      })
      .describe(
        'Which tags are candidates, before one of them is chosen. A pattern may compile to 1,000 instructions, all patterns of a policy to 2,000 together; "[a-z]{1,128}" is 257.',
      ),
    [
      {
        rule: '!has(self.extract) || has(self.allow)',
        message: 'extract takes its groups from allow: write allow as well, such as "^v(?P<version>.*)$" with extract "$version"',
      },
    ],
  ),
  checkExtract,
);
