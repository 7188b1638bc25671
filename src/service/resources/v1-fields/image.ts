import { z } from 'zod';
import { parseImageReference } from '../../../core/model/image-reference.ts';
import { withChecks, withRules, type Finding, type Rule } from '../rules.ts';
import { findingOf } from '../validation/problem.ts';

/** Matches a capital outside of a host: after a slash, in a name without a slash, or in a first part without a dot and a port. Case is ignored in hosts. */
const misplacedCapital = '/[^A-Z]*[A-Z]|^[^/]*[A-Z][^/]*$|^[^/.:]*[A-Z][^/.:]*/';

/** The rules of an image name, in both versions. A name with an "@" may contain a password, so it gets only the first rule, which does not quote it. */
const rulesOfImage = (chooser: 'select' | 'tagPolicy' | 'match'): Rule[] => [
  {
    rule: "!self.contains('@') && !self.matches(':[^/]*$')",
    message: `write only the repository, without a tag or digest: ${chooser} chooses the tag`,
  },
  {
    rule: `self.contains('@') || (!self.contains('://') && !self.matches('${misplacedCapital}'))`,
    message: 'an image name is in lower case and has no scheme, such as "harbor.example.com/shop/web"',
    messageExpression: `'write "' + (self.contains('://') ? self.substring(self.indexOf('://') + 3) : self).lowerAscii() + '": an image name is in lower case and has no scheme'`,
  },
];

/** The repository of a policy: `spec.image` of v1 and `spec.repository` of v1alpha1, each with the field that chooses the tag. */
export const repositoryField = (chooser: 'select' | 'tagPolicy' | 'match') =>
  withChecks(
    withRules(
      z
        .string()
        .min(1)
        .max(255)
        .describe('Image repository without a tag, such as "harbor.example.com/shop/web" or "library/nginx" (Docker Hub).'),
      rulesOfImage(chooser),
    ),
    checkImageName,
  );

/** Checks an image name by the grammar of distribution/reference; rules check that it has no tag, digest, scheme or capitals. */
function checkImageName(value: unknown): Finding[] {
  const text = String(value);
  return text.includes('@') || text.includes('://') ? [] : findingOf(() => parseImageReference(text));
}
