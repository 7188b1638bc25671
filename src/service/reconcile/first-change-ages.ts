import { artifactOf } from '../../core/model/artifact.ts';
import { WaitError } from '../../core/model/errors.ts';
import { ageKey, firstChanges } from '../../core/plan/guards/unlikely-version.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { isCredibleTime } from '../../core/select/strategies/newest.ts';
import type { Reconcile } from './attempt.ts';
import { readSomeTimes } from './creation-times.ts';
import { propose } from './plan.ts';
import type { Registry } from './ports.ts';
import type { Selection } from './selection.ts';

/** The strategies whose highest tag need not be the newest image. */
const byName: ReadonlySet<string> = new Set<TagStrategy['id']>(['semver', 'numerical', 'alphabetical']);

/**
 * The selection with the ages of its image and of the images that it would replace, if a container is changed for the first time: the guard `unlikely-version`
 * decides by these ages. Of other policies that order tags by their names, only whoever asks what would happen is warned. Any later change costs no request. An image that cannot be read has no age, so it does not keep a policy from its first change unless that is held already.
 */
export async function withAges(reconcile: Reconcile, selection: Selection, registry: Registry): Promise<Selection> {
  const { policy, spec, cluster, signal, request } = reconcile;
  const { candidate, basis } = selection;
  const { strategy } = selection.spec;
  const isOfInterest = strategy.isUnbounded === true || (request.isPreview === true && byName.has(strategy.id));
  if (!isOfInterest || basis === 'UserRequest' || spec.targets.length === 0) return selection;
  const { plan, context } = propose(policy, selection, cluster);
  const first = plan.targets.flatMap((target) => firstChanges(target, context));
  const running = new Set(first.map(({ from }) => ageKey(from)).filter((key) => key !== undefined));
  if (running.size === 0) return selection;
  const source = registry.sourceOf(policy, spec);
  const needed = [...new Set([candidate.tag, ...running])];
  const timesRequest = { source, artifact: artifactOf(spec), needed, latest: policy.status.latest, now: cluster.now, signal };
  const known = await readSomeTimes(timesRequest, registry).catch((error: unknown) => {
    if (error instanceof WaitError || signal.aborted) throw error;
    return undefined;
  });
  const created = [...(known?.created ?? [])];
  return { ...selection, ages: new Map(created.map(([tag, at]) => [tag, at !== undefined && isCredibleTime(at) ? at : undefined])) };
}
