/** Which policies a push concerns: those that watch its repository as their base, and those whose workloads run its image and are restarted for it. */
import { baseKey, isActiveBase, type BaseImagePolicy } from '../../core/model/base-policy.ts';
import { defined } from '../../core/model/defined.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import { hintOf } from '../../service/reconcile/fan-out-push.ts';
import type { Bases } from '../../service/reconcile/ports.ts';
import type { UsableBasePolicy } from './act.ts';
import { jobFor, type BaseEnqueuerPorts } from './enqueue-bases.ts';

export interface OnPushPorts extends Pick<BaseEnqueuerPorts, 'all' | 'addBaseJobs' | 'now'> {
  /** The policies that watch a repository as their base. */
  readonly match: (repository: Repository) => readonly BaseImagePolicy[];
  /** Whether a policy restarts workloads that run an image of the repository. */
  readonly restartsFor: (policy: UsableBasePolicy, repository: Repository) => boolean;
}

/** Creates what enqueues the policies that a push concerns. It returns the keys of those that watch the repository. */
export function createOnPush({ all, match, restartsFor, addBaseJobs, now }: OnPushPorts): Bases['onPush'] {
  return async ({ id, repository, tag, digest }) => {
    const hint = hintOf({ repository, tag, ...defined({ digest }) });
    const watching = match(repository).filter(isActiveBase);
    const running = [...all()].filter((policy) => isActiveBase(policy) && !watching.includes(policy) && restartsFor(policy, repository));
    await addBaseJobs([
      ...watching.map((policy) => ({ ...jobFor(policy, 'Webhook', `push:${id}`, now()), eventId: id, hint })),
      ...running.map((policy) => ({ ...jobFor(policy, 'TargetChange', `image:${id}`, now()), pushed: repository, hint })),
    ]);
    return watching.map(baseKey);
  };
}
