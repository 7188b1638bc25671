import { tryParseImageReference } from '../model/image-reference.ts';
import { firstChanges } from '../plan/guards/unlikely-version.ts';
import { isCredibleTime } from '../select/strategies/newest.ts';
import type { Reconcile } from './attempt.ts';
import { readSomeTimes } from './creation-times.ts';
import { propose } from './plan.ts';
import type { Registry } from './ports.ts';
import type { Selection } from './selection.ts';

/**
 * The selection with the ages of its image and of those that it would replace, where a container is changed for the first time: the guard `unlikely-version` decides
 * by them. Any later change costs no request.
 */
export async function withAges(reconcile: Reconcile, selection: Selection, registry: Registry): Promise<Selection> {
  const { policy, spec, cluster, signal } = reconcile;
  const { candidate, basis } = selection;
  if (selection.spec.strategy.isUnbounded !== true || basis === 'UserRequest' || spec.targets.length === 0) return selection;
  const { plan, context } = propose(policy, selection, cluster);
  const first = plan.targets.flatMap((target) => firstChanges(target, context));
  const running = new Set(first.map(({ from }) => tryParseImageReference(from)?.tag).filter((tag) => tag !== undefined));
  if (running.size === 0) return selection;
  const source = registry.sourceOf(policy, spec);
  const needed = [...new Set([candidate.tag, ...running])];
  const { created } = await readSomeTimes({ source, needed, latest: policy.status.latest, now: cluster.now, signal }, registry);
  return { ...selection, ages: new Map([...created].filter(([, at]) => at !== undefined && isCredibleTime(at))) };
}
