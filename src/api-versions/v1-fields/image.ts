import { z } from 'zod';
import { withChecks, withRules } from '../rules.ts';
import { checkImageName } from '../validation/check-image-name.ts';

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
    ],
  ),
  checkImageName,
);
