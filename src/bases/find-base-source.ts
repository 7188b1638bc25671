import { baseNameOf, isUsableBase } from '../core/model/base-policy.ts';
import type { JoinedWing, WorkMeans } from '../service/compose/work-wing.ts';
import type { BasePolicyCache } from './base-policy-cache.ts';
import { baseSourceOf } from './policies/select-base.ts';

/** Finds where the base of a policy comes from, given the name of the policy in the record of a push. */
export function findBaseSource(
  { get }: Pick<BasePolicyCache['policies'], 'get'>,
  sourceOf: WorkMeans['sourceOf'],
): NonNullable<JoinedWing['findSource']> {
  return (key) => {
    const [namespace = '', name = ''] = key.split('/');
    const baseName = baseNameOf(name);
    const base = baseName === undefined ? undefined : get(namespace, baseName);
    return base && isUsableBase(base.spec) ? baseSourceOf({ ...base, spec: base.spec }, { sourceOf }) : undefined;
  };
}
