import { isUsable, policyKey, type ImagePolicy } from '../../core/model/image-policy.ts';

/**
 * The policies of a run in groups, one after the other: each policy comes after all that follow it. So a follower gets what the followed policy has proven before the
 * same run gives that policy something new. Policies that follow each other in a circle are in the last group.
 */
export function followersFirst(policies: readonly ImagePolicy[]): readonly (readonly ImagePolicy[])[] {
  const groups: ImagePolicy[][] = [];
  let left = policies;
  while (left.length > 0) {
    const followed = new Set(left.flatMap((policy) => followedKeys(policy)));
    const unfollowed = left.filter((policy) => !followed.has(policyKey(policy)));
    groups.push(unfollowed.length === 0 ? [...left] : unfollowed);
    left = unfollowed.length === 0 ? [] : left.filter((policy) => followed.has(policyKey(policy)));
  }
  return groups;
}

function followedKeys({ spec }: ImagePolicy): string[] {
  return isUsable(spec) ? (spec.after?.policies ?? []).map(policyKey) : [];
}
