import { z } from 'zod';
import { parseImageReference } from '../../../core/model/image-reference.ts';
import { withChecks, withRules, type Finding, type Rule } from '../rules.ts';
import { findingOf } from '../validation/problem.ts';

/** A capital outside of a host: after a slash, in a name without a slash, or in a first part without a dot and a port. Hosts have no case. */
const misplacedCapital = '/.*[A-Z]|^[^/]*[A-Z][^/]*$|^[^/.:]*[A-Z][^/.:]*/';
const hasMisplacedCapital = new RegExp(misplacedCapital);

/** The rules of an image name, in both versions. One with an "@" may contain a password, so that only the first rule, which does not quote it, holds for it. */
const rulesOfImage = (chooser: 'select' | 'tagPolicy'): Rule[] => [
  {
    rule: "!self.contains('@') && !self.matches(':[^/]*$')",
    message: `write only the repository, without a tag or digest: ${chooser} chooses the tag`,
    holds: (self) => !/@|:[^/]*$/.test(String(self)),
  },
  {
    rule: `self.contains('@') || (!self.contains('://') && !self.matches('${misplacedCapital}'))`,
    message: 'an image name is in lower case and has no scheme, such as "harbor.example.com/shop/web"',
    explained: {
      messageExpression: `'write "' + (self.contains('://') ? self.substring(self.indexOf('://') + 3) : self).lowerAscii() + '": an image name is in lower case and has no scheme'`,
      describe: describeSpelling,
    },
    holds: isSpeltRight,
  },
];

/** The repository of a policy: `spec.image` of v1 and `spec.repository` of v1alpha1, each with the field that chooses the tag. */
export const repositoryField = (chooser: 'select' | 'tagPolicy') =>
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

function isSpeltRight(value: unknown): boolean {
  const text = String(value);
  return text.includes('@') || (!text.includes('://') && !hasMisplacedCapital.test(text));
}

/** What to write instead of a name with a scheme or capitals. */
function describeSpelling(value: unknown): string {
  const text = String(value);
  const scheme = text.indexOf('://');
  const name = scheme === -1 ? text : text.slice(scheme + 3);
  return `write "${name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}": an image name is in lower case and has no scheme`;
}
