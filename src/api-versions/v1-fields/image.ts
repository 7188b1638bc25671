import { z } from 'zod';
import { parseImageReference } from '../../model/image-reference.ts';
import { withChecks, withRules, type Finding } from '../rules.ts';
import { findingOf } from '../validation/problem.ts';

/** `spec.image`. */
export const image = withChecks(
  withRules(
    z
      .string()
      .min(1)
      .max(255)
      .describe('Image repository without a tag, such as "harbor.example.com/shop/web" or "library/nginx" (Docker Hub).'),
    [
      {
        rule: "!self.contains('@') && !self.matches(':[^/]*$')",
        message: 'write only the repository, without a tag or digest: select chooses the tag',
        holds: (self) => !/@|:[^/]*$/.test(String(self)),
      },
      {
        rule: "self.contains('@') || (!self.contains('://') && !self.matches('[A-Z]'))",
        message: 'an image name is in lower case and has no scheme, such as "harbor.example.com/shop/web"',
        explained: {
          messageExpression: `'write "' + (self.contains('://') ? self.substring(self.indexOf('://') + 3) : self).lowerAscii() + '": an image name is in lower case and has no scheme'`,
          describe: describeSpelling,
        },
        holds: isSpeltRight,
      },
    ],
  ),
  checkImageName,
);

/** Checks an image name by the grammar of distribution/reference; rules check that it has no tag, digest, scheme or capitals. */
export function checkImageName(value: unknown): Finding[] {
  const text = String(value);
  return text.includes('@') || text.includes('://') ? [] : findingOf(() => parseImageReference(text));
}

/** Whether a name has neither a scheme nor capitals. One with an "@" may contain a password, and the rule against it does not quote it. */
export function isSpeltRight(value: unknown): boolean {
  const text = String(value);
  return text.includes('@') || (!text.includes('://') && !/[A-Z]/.test(text));
}

/** What to write instead of a name with a scheme or capitals. */
export function describeSpelling(value: unknown): string {
  const text = String(value);
  const scheme = text.indexOf('://');
  const name = scheme === -1 ? text : text.slice(scheme + 3);
  return `write "${name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())}": an image name is in lower case and has no scheme`;
}
