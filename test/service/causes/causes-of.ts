import type { Cause } from '../../../src/service/causes/cause.ts';
import { gatherCauses } from '../../../src/service/causes/policy-causes.ts';

/** The causes of some policies. `now`: in ms since 1970. */
export function policyCauses(policies: readonly Parameters<ReturnType<typeof gatherCauses>['add']>[0][], now: number): Cause[] {
  const gathered = gatherCauses(now);
  for (const policy of policies) gathered.add(policy);
  return gathered.found();
}
