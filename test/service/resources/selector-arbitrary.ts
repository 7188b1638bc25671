/** What selects workloads by labels. */
import fc from 'fast-check';
import { list, matching, some, text } from './arbitrary-parts.ts';

/** The value of a label. */
export const label = matching(/^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,20}[A-Za-z0-9])?)?$/, 'web', 'prod', '');
const labelKey = text(317, 'app', 'example.com/tier');
const requirement = fc.oneof(
  some({ key: labelKey, operator: fc.constantFrom('In', 'NotIn'), values: list(label, 1) }, ['key', 'operator', 'values']),
  some({ key: labelKey, operator: fc.constantFrom('Exists', 'DoesNotExist'), values: fc.constant<string[]>([]) }, ['key', 'operator']),
);
const labels = fc.dictionary(text(63, 'app', 'uses', 'constructor', '__proto__'), label, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
/** Selects workloads by their labels. */
export const selector = fc.oneof(
  some({ matchLabels: labels, matchExpressions: list(requirement) }, ['matchLabels']),
  some({ matchExpressions: list(requirement, 1) }, ['matchExpressions']),
);
