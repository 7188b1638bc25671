/** ImagePolicy v1: what users write, what is stored, and what the code works with. */
import { z } from 'zod';
import { statusSchema } from '../model/policy-status.ts';
import { group } from './group.ts';
import { has, withRules } from './rules.ts';
import { specSchema } from './v1-spec.ts';

export const version = 'v1';
export const apiVersion = `${group}/${version}`;

/** The whole resource below `metadata`. A spec is required of new objects only: clusters hold objects without one. */
export const schema = withRules(
  z
    .object({ spec: specSchema.optional(), status: statusSchema.optional() })
    .describe('Keeps the images of workloads up to date: a push to the repository changes them when the policy selects the tag.'),
  [
    {
      rule: 'has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))',
      message: 'write a spec: image, select and targets',
      optionalOldSelf: true,
      // In code only new objects are result.
      holds: (self) => has(self, 'spec'),
    },
  ],
);
