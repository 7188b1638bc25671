/** Schemas of values that several fields of v1 have: names, durations, patterns. */
import { isObject } from '../../../core/model/untyped.ts';
import { z } from 'zod';
import { withChecks, withRules, type Check, type Finding } from '../rules.ts';
import { maxPatternLength } from '../../../core/model/pattern.ts';

const maxDuration = 8_784;
export const durationPattern = '^(?:[0-9]{1,4}h)?(?:[0-9]{1,6}m)?(?:[0-9]{1,8}s)?$';

/** A list without duplicates, which the API server rejects. */
export function distinct<T extends z.ZodType>(list: T): T {
  return list.meta({ 'x-kubernetes-list-type': 'set' });
}

const namePattern = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const nameHint = 'lower-case letters, digits, "-" and "." between letters or digits';
const labelPattern = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const labelHint = 'lower-case letters, digits and "-" between letters or digits';

/** Schema of the name of an object (RFC 1123 subdomain). */
export const name = (what: string) => z.string().min(1).max(253).regex(namePattern, nameHint).describe(what);

/** Schema of the name of a container (RFC 1123 label). */
export const label = (what: string) => z.string().min(1).max(63).regex(labelPattern, labelHint).describe(what);

const keyInSecret = z
  .string()
  .min(1)
  .max(253)
  .regex(/^[A-Za-z0-9._-]+$/, 'a key of a Secret has letters, digits, "-", "_" and "."')
  .describe('Key in the Secret.');

/** Schema of a key of a Secret in the namespace of the object that names it: `owner`, such as "the policy". */
export const secretKeyOf = (owner: string) => (what: string) =>
  z.object({ name: name(`Name of the Secret, in the namespace of ${owner}.`), key: keyInSecret }).describe(what);

/** Schema of the environment in reports to a forge (GitHub and the like). */
export const forgeEnvironment = z.string().min(1).max(255);
/** Schema of the repositories at a forge that may be reported to. */
export const forgeRepositories = z
  .array(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[A-Za-z0-9._/*-]+$/, 'owner/name, in which "*" stands for any characters')
      .describe('A repository.'),
  )
  .min(1)
  .max(100);

// Names, namespaces and kinds of targets have a check and no pattern: v1alpha1 accepts any text for them, and its policies must be valid in v1.

/** Schema of the name of a target. */
export const targetName = (what: string) => withChecks(z.string().min(1).max(253).describe(what), checkText(namePattern, nameHint));

/** Schema of the namespace of a target. */
export const targetNamespace = (what: string) => withChecks(z.string().min(1).max(63).describe(what), checkText(labelPattern, labelHint));

/** Schema of the kind of a target. */
export const targetKind = (what: string) =>
  withChecks(
    z.string().min(1).max(63).describe(what),
    checkText(/^[A-Z][A-Za-z0-9]*$/, 'a kind as Kubernetes writes it, such as "Deployment"'),
  );

/** Schema of a duration in h, m and s: longer than zero, at most a leap year. */
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
      },
    ],
  );

/** Matches a repetition count above 128, but not the code point in `\x{1F433}`. The syntax is the same in RE2 and in JavaScript. */
const largeCount = String.raw`(?:^|[^x]|[^\\]x)[{](?:[0-9]+,)?(?:129|1[3-9][0-9]|[2-9][0-9][0-9]|[0-9]{4,})(?:,[0-9]*)?[}]`;

/** Schema of an RE2 expression. CEL cannot compute its compiled size, but can limit repetition counts, which make a short text a large program. */
export const pattern = (what: string) =>
  withRules(z.string().min(1).max(maxPatternLength).describe(what), [
    {
      rule: `!self.matches(r'${largeCount}')`,
      message: 'write repetition counts of at most 128, the length of the longest tag',
    },
  ]);

/** Creates a check that a text matches a pattern that is not in the schema. */
function checkText(pattern: RegExp, hint: string): Check {
  return (value) =>
    typeof value !== 'string' || value === '' || pattern.test(value) ? [] : [{ message: `"${value}" is not valid: ${hint}` }];
}

const labelNamePattern = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const prefixPattern = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Checks the name of a label, with an optional prefix: `app.kubernetes.io/name`. */
export function checkLabelKey(value: unknown): Finding[] {
  const parts = String(value).split('/');
  const [name = '', prefix] = parts.toReversed();
  const isKey = parts.length <= 2 && labelNamePattern.test(name) && (prefix === undefined || prefixPattern.test(prefix));
  return isKey ? [] : [{ message: `"${String(value)}" is not the name of a label, such as "app" or "app.kubernetes.io/name"` }];
}

/** Checks the names of all labels of a map. */
export function checkLabelKeys(value: unknown): Finding[] {
  if (!isObject(value)) return [];
  return Object.keys(value).flatMap((key) => checkLabelKey(key).map((finding) => ({ ...finding, keys: [key] })));
}
