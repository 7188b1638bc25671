/** Which policies restart workloads when an image is pushed again under a tag that runs. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import { matchesRepository } from '../../core/model/repository-pattern.ts';
import type { UsableBasePolicy } from './act.ts';
import { listImages, type ImagesView } from './list-images.ts';

/** The repositories that the workloads of a policy run, by the uid of the policy. */
type RunningRepositories = BoundedMap<string, { readonly generation: number; readonly at: number; readonly names: ReadonlySet<string> }>;

/** How long the list of repositories is kept, because listing all images for each push would cost too much. Changed workloads have their own reconcile. */
const lifeMs = 60_000;
const maxPolicies = 1_000;

/** Whether a push to a repository concerns a restart by a policy. It costs a lookup in a set, and once a minute a list of the workloads. `elapsed`: a monotonic clock in ms. */
export function createRestartsOnPush(
  view: ImagesView,
  elapsed: () => number,
): (policy: UsableBasePolicy, repository: Repository) => boolean {
  const running: RunningRepositories = new BoundedMap(maxPolicies);
  const namesOf = (policy: UsableBasePolicy) => {
    const { uid, generation } = policy;
    const known = running.get(uid);
    if (known?.generation === generation && elapsed() - known.at < lifeMs) return known.names;
    const names = new Set(listImages(policy, view).map((image) => formatRepository(image.repository)));
    running.set(uid, { generation, at: elapsed(), names });
    return names;
  };
  return (policy, repository) => {
    const restarts = policy.spec.onNewBase.some(
      (action) => action.kind === 'restart' && action.images.some((pattern) => matchesRepository(pattern, repository)),
    );
    return restarts && namesOf(policy).has(formatRepository(repository));
  };
}
