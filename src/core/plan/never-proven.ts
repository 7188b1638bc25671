/** What keeps a policy that follows others from ever changing anything, whatever these run: somebody has to edit one of the policies. */
import { isUsable, type ImagePolicy, type PolicyName } from '../model/image-policy.ts';
import { whyCircular, whyNeverShown, whyUnseen, type FollowView } from './proven.ts';

/** Why nothing will be proven to a policy. */
export interface NeverProven {
  readonly kind: 'Circle' | 'NotSeen' | 'Missing' | 'NeverShown';
  /** The followed policy, and its index in the list of the follower; the first for a circle, which is a matter of all of them. */
  readonly followed: PolicyName;
  readonly index: number;
  readonly message: string;
}

/** Finds it in the specs alone; empty if the policy follows none. What a policy may not see is not told. */
export function findNeverProven(policy: ImagePolicy, view: FollowView): readonly NeverProven[] {
  const { spec } = policy;
  if (!isUsable(spec) || spec.after === undefined) return [];
  const [circle] = whyCircular(policy, spec.after, view) ?? [];
  const [first] = spec.after.policies;
  if (circle?.message !== undefined && first !== undefined) return [{ kind: 'Circle', followed: first, index: 0, message: circle.message }];
  return spec.after.policies.flatMap((followed, index) => {
    const found = judge(policy, followed, view);
    return found === undefined ? [] : [{ ...found, followed, index }];
  });
}

function judge(policy: ImagePolicy, name: PolicyName, view: FollowView): Pick<NeverProven, 'kind' | 'message'> | undefined {
  const found = view.findPolicy?.(name.namespace, name.name);
  const unseen = whyUnseen(policy, found ?? name, view);
  if (unseen !== undefined) return { kind: 'NotSeen', message: unseen.message };
  if (found === undefined) return { kind: 'Missing', message: 'it does not exist' };
  const never = isUsable(found.spec) ? whyNeverShown(found.spec) : undefined;
  return never === undefined ? undefined : { kind: 'NeverShown', message: never };
}
