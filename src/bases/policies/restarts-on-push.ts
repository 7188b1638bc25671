/** Which policies restart workloads when an image is pushed again under a tag that runs. */
import { formatRepository, type RegistryAliases, type Repository } from '../../core/model/image-reference.ts';
import { matchesRepository } from '../../core/model/repository-pattern.ts';
import { workloadKey, type Workload } from '../../core/model/workload.ts';
import { createGroups, type Groups } from '../../core/async/groups.ts';
import type { UsableBasePolicy } from './act.ts';
import type { Change } from './enqueue-bases.ts';
import { repositoriesOf } from './list-images.ts';
import { selectsWorkload, type NamespaceMatches } from './selects-workload.ts';

export interface RestartsOnPush {
  /** Whether a push to a repository concerns a restart by a policy: it selects a workload that runs an image of the repository. Consent is checked by its reconcile. */
  concerns(policy: UsableBasePolicy, repository: Repository): boolean;
  /** A workload was created, changed or deleted, or is in the first list of its kind. */
  onWorkload(change: Change<Workload>): void;
}

export interface RunningView {
  readonly aliases: RegistryAliases;
  readonly namespaceMatches: NamespaceMatches;
  /** All workloads that are known now. */
  readonly listEveryWorkload: () => Iterable<Workload>;
}

/**
 * Knows at each moment which workloads run which repository, because a push that is not seen to concern a policy has no job for it. The workloads are listed at
 * the first question of a policy that restarts, and followed from then on: most installations have none.
 */
export function createRestartsOnPush({ aliases, namespaceMatches, listEveryWorkload }: RunningView): RestartsOnPush {
  let running: Groups<Workload> | undefined;
  const remove = (groups: Groups<Workload>, workload: Workload) => {
    for (const name of repositoriesOf(workload, aliases)) groups.remove(name, workloadKey(workload));
  };
  const put = (groups: Groups<Workload>, workload: Workload) => {
    for (const name of repositoriesOf(workload, aliases)) groups.set(name, workload);
  };
  const listAll = () => {
    const groups = createGroups<Workload>(workloadKey);
    for (const workload of listEveryWorkload()) put(groups, workload);
    return groups;
  };
  return {
    concerns(policy, repository) {
      const restarts = policy.spec.onNewBase.some(
        (action) => action.kind === 'restart' && action.images.some((pattern) => matchesRepository(pattern, repository)),
      );
      if (!restarts) return false;
      running ??= listAll();
      for (const workload of running.get(formatRepository(repository)).values())
        if (selectsWorkload(policy, workload, namespaceMatches)) return true;
      return false;
    },
    onWorkload({ type, object, previous }) {
      if (running === undefined) return;
      if (previous !== undefined) remove(running, previous);
      if (type === 'deleted') remove(running, object);
      else put(running, object);
    },
  };
}
