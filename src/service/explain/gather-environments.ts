/** Gathers the policies that images pass before and after a policy (`select.proven`, `update.after`), as far as a user may read them. */
import { isUsable, policyKey, type ImagePolicy, type PolicyName } from '../../core/model/image-policy.ts';

/** The maximum number of policies that are gathered. */
const maxEnvironments = 12;
/** The maximum number of followers of one policy about which it is asked whether the user may read them. Anybody may write policies that follow another one. */
const maxAsked = 50;

/** Which policies a user may see. */
export interface Sight {
  /** Finds a policy; undefined if it does not exist, or if the user may not read it. */
  readonly see: (policy: PolicyName) => Promise<ImagePolicy | undefined>;
  /** The policies that name this one; absent where they are not known. */
  readonly followersOf?: (policy: PolicyName) => readonly PolicyName[];
}

/** The policies in the order of following, and those that one of them names and that the user does not see. */
export interface Gathered {
  readonly environments: readonly ImagePolicy[];
  readonly unseen: readonly PolicyName[];
}

/** Gathers what a policy follows, directly or through others, then the policy, then what follows it. Nothing is reached through a policy that the user may not read. */
export async function gatherEnvironments(policy: ImagePolicy, { see, followersOf }: Sight): Promise<Gathered> {
  const visited = new Set([policyKey(policy)]);
  const unseen: PolicyName[] = [];
  const environments: ImagePolicy[] = [];
  const visit = (name: PolicyName): boolean => {
    const key = policyKey(name);
    if (visited.has(key) || visited.size >= maxEnvironments) return false;
    visited.add(key);
    return true;
  };
  const addFollowed = async ({ spec }: ImagePolicy): Promise<void> => {
    for (const name of isUsable(spec) ? (spec.after?.policies ?? []) : []) {
      if (!visit(name)) continue;
      const found = await see(name);
      if (found === undefined) {
        unseen.push(name);
        continue;
      }
      await addFollowed(found);
      environments.push(found);
    }
  };
  await addFollowed(policy);
  environments.push(policy);
  const left = [policy];
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    for (const name of (followersOf?.(next) ?? []).slice(0, maxAsked)) {
      // Whom the user may not see neither counts nor shows that it exists.
      const found = visited.has(policyKey(name)) ? undefined : await see(name);
      if (found === undefined || !visit(name)) continue;
      environments.push(found);
      left.push(found);
    }
  }
  return { environments, unseen };
}
