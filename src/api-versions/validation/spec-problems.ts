import type { z } from 'zod';
import type { CheckContext } from '../rules.ts';
import { keywordProblems } from './keyword-problems.ts';
import { problem, type Problem } from './problem.ts';
import { ruleProblems } from './rule-problems.ts';
import { schemaProblems } from './schema-problems.ts';
import { withoutNulls } from './without-nulls.ts';

/** All that is wrong with a spec by its schema, its rules and its checks. */
export function specProblems(schema: z.ZodType, spec: unknown, context: CheckContext): Problem[] {
  if (spec === undefined || spec === null)
    return [problem(['spec'], 'the policy has no spec: write what to watch, what to choose and what to update')];
  const value = withoutNulls(spec);
  const bySchema = schemaProblems(schema, value, ['spec']);
  const told = new Set(bySchema.map(({ path }) => path));
  const further = [...keywordProblems(schema, value, ['spec']), ...ruleProblems(schema, value, ['spec'], context)];
  // What is empty or misspelt says nothing that were worth a second complaint.
  return [...bySchema, ...further.filter(({ path }) => !told.has(path))];
}
