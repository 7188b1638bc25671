import type { CheckContext } from './rules.ts';
import type { Reason } from '../model/reasons.ts';
import { specSchema } from './v1-spec.ts';
import { specProblems } from './validation/spec-problems.ts';

/** One thing that is wrong with a spec. */
export interface SpecProblem {
  /** `spec.select.semver.range`, as the API server writes it. */
  readonly path: string;
  readonly message: string;
  readonly reason: Reason;
}

/**
 * Everything that is wrong with the spec of a v1 policy: types and bounds, the rules that the API server checks in CEL, and what only
 * code can check. Empty means that it can be acted on. Fields that the schema does not have are no problem
 * here: they come from a newer schema than this one (`validatePolicy` tells them).
 */
export function validateSpec(spec: unknown, context: CheckContext = {}): readonly SpecProblem[] {
  return specProblems(specSchema, spec, context).map(({ path, message, reason }) => ({ path, message, reason }));
}
