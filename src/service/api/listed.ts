/** What lists need of a policy. Every list goes over all policies, so it is derived once for each version of a policy, for all callers. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { policyKey, scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { stateOf, type PolicyState } from '../../core/model/policy-state.ts';

export interface Listed {
  readonly policy: ImagePolicy;
  /** `NAMESPACE/NAME`. */
  readonly key: string;
  readonly namespace: string;
  readonly state: PolicyState;
  /** The repository, and the host of its registry; undefined if the image cannot be read. */
  readonly image: string | undefined;
  readonly registry: string | undefined;
  /** When its history says that containers were changed, in ms since 1970; the newest first. */
  readonly changedAt: readonly number[];
  /** A text that sorts the latest change first. */
  readonly changedRank: string;
}

/** What is listed of each policy. A policy that changes is another object, so that nothing outdated is found. */
const known = new WeakMap<ImagePolicy, Listed>();
/** One text for all equal ones: counting them is then several times as fast. */
const texts = new BoundedMap<string, string>(10_000);

/** The fields of a policy that lists are filtered and ordered by. */
export function listedOf(policy: ImagePolicy): Listed {
  const found = known.get(policy);
  if (found !== undefined) return found;
  const scope = scopeOf(policy.spec);
  const image = scope && formatRepository(scope.repository);
  const changedAt = (policy.status.history ?? []).map(({ at }) => Date.parse(at));
  const listed: Listed = {
    policy,
    key: policyKey(policy),
    state: stateOf(policy),
    image,
    registry: image && shared(image.slice(0, image.indexOf('/'))),
    namespace: shared(policy.namespace),
    changedAt,
    changedRank: String(Number.MAX_SAFE_INTEGER - (changedAt[0] ?? 0)),
  };
  known.set(policy, listed);
  return listed;
}

function shared(text: string): string {
  const found = texts.get(text);
  if (found === undefined) texts.set(text, text);
  return found ?? text;
}
