import { z } from 'zod';
import { withChecks, withRules } from '../rules.ts';
import { checkImageName, describeSpelling, isSpeltRight } from '../validation/check-image-name.ts';

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
