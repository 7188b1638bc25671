/** Checks the policies that a policy follows. */
import { isObject } from '../../../core/model/untyped.ts';
import { fieldOf, type CheckContext, type Finding } from '../rules.ts';

/** Checks that no policy is named twice. */
export function checkPoliciesDiffer(value: unknown, { namespace }: CheckContext): Finding[] {
  const policies: readonly unknown[] = Array.isArray(value) ? value : [];
  const seen = new Set<string>();
  return policies.flatMap((policy, index): Finding[] => {
    if (!isObject(policy)) return [];
    const key = JSON.stringify([fieldOf(policy, 'namespace') ?? namespace, fieldOf(policy, 'name')]);
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [{ keys: [index], message: 'names the same policy twice: remove one of them' }];
  });
}
