/** The small values that the fields of v1 are made of. */
import { z } from 'zod';
import { parseDuration } from '../../model/text.ts';
import { withChecks, withRules } from '../rules.ts';
import { checkText } from '../validation/check-text.ts';

const maxDuration = 8_784;
const durationPattern = '^(?:[0-9]{1,4}h)?(?:[0-9]{1,6}m)?(?:[0-9]{1,8}s)?$';

/** A list whose entries differ; the API server refuses a second one. */
export function distinct<T extends z.ZodType>(list: T): T {
  return list.meta({ 'x-kubernetes-list-type': 'set' });
}

const namePattern = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const nameHint = 'lower-case letters, digits, "-" and "." between letters or digits';
const labelPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const labelHint = 'lower-case letters, digits and "-" between letters or digits';

/** The name of an object (RFC 1123 subdomain). */
export const name = (what: string) => z.string().min(1).max(253).regex(namePattern, nameHint).describe(what);

/** The name of a container (RFC 1123 label). */
export const label = (what: string) => z.string().min(1).max(63).regex(labelPattern, labelHint).describe(what);

// v1alpha1 takes any text for these three, and what it took must be valid in v1 as well: in the schema they have no pattern, so a check does it.

/** The name of a target. */
export const targetName = (what: string) => withChecks(z.string().min(1).max(253).describe(what), checkText(namePattern, nameHint));

/** The namespace of a target. */
export const targetNamespace = (what: string) => withChecks(z.string().min(1).max(63).describe(what), checkText(labelPattern, labelHint));

/** The kind of a target. */
export const targetKind = (what: string) =>
  withChecks(
    z.string().min(1).max(63).describe(what),
    checkText(/^[A-Z][A-Za-z0-9]*$/, 'a kind as Kubernetes writes it, such as "Deployment"'),
  );

/** A duration in h, m and s: longer than nothing, at most a leap year. */
export const duration = (what: string) =>
  withRules(
    z
      .string()
      .min(1)
      .max(32)
      .regex(new RegExp(durationPattern), 'hours, minutes and seconds in this order: "90s", "30m", "1h30m"')
      .describe(`${what} A duration in h, m and s, at most ${maxDuration}h: "90s", "1h30m".`),
    [
      {
        rule: `!self.matches('[0-9]') || !self.matches('${durationPattern}') || (duration(self) > duration('0s') && duration(self) <= duration('${maxDuration}h'))`,
        message: `write a duration longer than zero and at most ${maxDuration}h, such as "30m"`,
        holds: (self) => {
          const milliseconds = parseDuration(String(self)) ?? 0;
          return milliseconds > 0 && milliseconds <= maxDuration * 3_600_000;
        },
      },
    ],
  );
