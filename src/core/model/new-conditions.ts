import type { Condition, PolicyStatus } from './policy-status.ts';

/** The conditions that are true now, and that were not true before or had another reason. */
export function newConditions(
  before: PolicyStatus['conditions'],
  after: PolicyStatus['conditions'],
  types: readonly string[],
): Condition[] {
  return types.flatMap((type) => {
    const condition = trueCondition(after, type);
    return condition === undefined || trueCondition(before, type)?.reason === condition.reason ? [] : [condition];
  });
}

/** The condition of a type, if its status is True. */
export function trueCondition(conditions: PolicyStatus['conditions'], wanted: string): Condition | undefined {
  return conditions?.find(({ type, status }) => type === wanted && status === 'True');
}
