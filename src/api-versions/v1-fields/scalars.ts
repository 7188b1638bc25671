/** The small values that the fields of v1 are made of. */
import { z } from 'zod';
import { parseDuration } from '../../core/duration.ts';
import { withRules } from '../rules.ts';

/** Longest RE2 expression. */
export const maxPattern = 512;

const maxDuration = 8_784;
const durationPattern = '^(?:[0-9]{1,4}h)?(?:[0-9]{1,6}m)?(?:[0-9]{1,8}s)?$';

/** A list whose entries differ; the API server refuses a second one. */
export function distinct<T extends z.ZodType>(list: T): T {
  return list.meta({ 'x-kubernetes-list-type': 'set' });
}

/** The name of an object (RFC 1123 subdomain). */
export const name = (what: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, 'lower-case letters, digits, "-" and "." between letters or digits')
    .describe(what);

/** The name of a namespace or a container (RFC 1123 label). */
export const label = (what: string) =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, 'lower-case letters, digits and "-" between letters or digits')
    .describe(what);

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
