/** Enqueues the policies that a changed policy concerns because one of them follows the other. */
import { isUsable, type ImagePolicy, type PolicyName } from '../../../core/model/image-policy.ts';
import type { Enqueuer, PolicyChange } from './enqueuer.ts';

/** The known policies, and who follows them. */
export interface KnownFollowers {
  readonly findPolicy: (namespace: string, name: string) => ImagePolicy | undefined;
  readonly followersOf: (policy: PolicyName) => readonly ImagePolicy[];
}

/**
 * Considers the followers of a changed policy. Where a policy begins or ends to follow others, these are considered as well: only followed ones record since when they
 * run an image.
 */
export function considerFollowers(
  { object, previous }: PolicyChange,
  { findPolicy, followersOf }: KnownFollowers,
  { consider }: Pick<Enqueuer, 'consider'>,
): void {
  for (const follower of followersOf(object)) consider(follower);
  if (previous?.spec === object.spec && previous.allowPoliciesFrom === object.allowPoliciesFrom) return;
  for (const { namespace, name } of [...followedIn(previous), ...followedIn(object)]) {
    const followed = findPolicy(namespace, name);
    if (followed !== undefined) consider(followed);
  }
}

function followedIn(policy: ImagePolicy | undefined): readonly PolicyName[] {
  return policy !== undefined && isUsable(policy.spec) ? (policy.spec.after?.policies ?? []) : [];
}
