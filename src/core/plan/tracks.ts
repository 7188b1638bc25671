/** Finds the containers that a policy has not changed yet, and the tags that other policies follow or select on a workload. */
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { sameRepository } from '../model/image-reference.ts';
import { isTargetContainer } from '../model/resolve-target.ts';
import type { Workload } from '../model/workload.ts';
import type { Tracks } from './decide-image.ts';
import { changesTo } from './past.ts';

/** The tracks for a policy. Other policies are named only to those of their namespace. */
export function tracksOf(
  policy: ImagePolicy,
  { repository }: PolicySpec,
  policiesOf: (workload: Workload) => readonly ImagePolicy[] = () => [],
): Tracks {
  const find = (workload: Workload, isMeant: (spec: PolicySpec) => boolean): string | undefined => {
    const other = policiesOf(workload).find(
      ({ uid, spec }) => uid !== policy.uid && isUsable(spec) && sameRepository(spec.repository, repository) && isMeant(spec),
    );
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
