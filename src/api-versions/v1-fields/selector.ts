import { z } from 'zod';
import { fieldOf, has, sizeOf, withChecks, withRules } from '../rules.ts';
import { checkLabelKey, checkLabelKeys } from '../validation/check-label-key.ts';

const labelValue = z
  .string()
  .max(63)
  .regex(
    /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/,
    'a label value has letters, digits, "-", "_" and "." between letters or digits',
  )
  .describe('The value of the label.');

const requirement = withRules(
  z
    .object({
      key: withChecks(z.string().min(1).max(317).describe('The name of the label.'), checkLabelKey),
      operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the values are compared.'),
      values: z.array(labelValue).max(64).optional().describe('Values for In and NotIn.'),
    })
    .describe('One requirement.'),
  [
    {
      rule: "!has(self.operator) || self.operator in ['In', 'NotIn'] == (has(self.values) && self.values.size() > 0)",
      message: 'In and NotIn need values; Exists and DoesNotExist take none',
      holds: (self) =>
        !has(self, 'operator') || ['In', 'NotIn'].includes(String(fieldOf(self, 'operator'))) === sizeOf(fieldOf(self, 'values')) > 0,
    },
  ],
);

/** `spec.targets[].selector`. */
export const selector = withRules(
  z
    .object({
      matchLabels: withChecks(z.record(z.string(), labelValue), checkLabelKeys)
        .meta({ maxProperties: 32 })
        .optional()
        .describe('Labels that the workload has, each with this value.'),
      matchExpressions: z.array(requirement).max(32).optional().describe('Requirements that all have to hold.'),
    })
    .describe('Selects workloads of the kind by their labels, in one namespace.'),
  [
    {
      rule: '(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)',
      message: 'an empty selector would select everything: write matchLabels or matchExpressions',
      holds: (self) => sizeOf(fieldOf(self, 'matchLabels')) + sizeOf(fieldOf(self, 'matchExpressions')) > 0,
    },
  ],
);
