/** Finds the containers that a policy has not changed yet, and the tags that other policies follow or select on a workload. */
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { sameRepository } from '../model/image-reference.ts';
import { isTargetContainer } from '../model/resolve-target.ts';
import type { Workload } from '../model/workload.ts';
import type { Tracks } from './decide-image.ts';
import { changesTo } from './past.ts';

/**
 * The limit for the comparisons of a plan with other policies. A workload has few policies, but whoever may write policies could select each of a thousand
 * workloads with each of a thousand policies.
 */
const maxCompared = 30_000;

type Other = ImagePolicy & { readonly spec: PolicySpec };

/** The tracks for a policy. Other policies are named only to those of their namespace. Where too many would have to be compared, a container counts as followed. */
export function tracksOf(
  policy: ImagePolicy,
  { repository }: PolicySpec,
  policiesOf: (workload: Workload) => readonly ImagePolicy[] = () => [],
): Tracks {
  const known = new Map<Workload, readonly Other[]>();
  let compared = 0;
  const othersOf = (workload: Workload): readonly Other[] => {
    const found = known.get(workload);
    if (found !== undefined) return found;
    const all = policiesOf(workload);
    compared += all.length;
    const others = all.filter(
      (other): other is Other => other.uid !== policy.uid && isUsable(other.spec) && sameRepository(other.spec.repository, repository),
    );
    known.set(workload, others);
    return others;
  };
  const find = (workload: Workload, isMeant: (spec: PolicySpec) => boolean): string | undefined => {
    if (compared > maxCompared) return 'another ImagePolicy';
    const others = othersOf(workload);
    compared += others.length;
    const other = others.find(({ spec }) => isMeant(spec));
    if (other === undefined) return undefined;
    return other.namespace === policy.namespace ? `ImagePolicy ${policyKey(other)}` : 'another ImagePolicy';
  };
  return {
    isOwn: (workload, container) => changesTo(policy, workload, container).length > 0,
    followerOf: (workload, tag) => find(workload, ({ strategy }) => strategy.mutableTag === tag),
    selectorOf: (workload, container, tag) =>
      find(
        workload,
        ({ strategy, targets }) =>
          strategy.reject(tag) === undefined && targets.some((target) => isTargetContainer(target, workload, container)),
      ),
  };
}
