import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { isReason } from '../../core/model/reasons.ts';
import { otherLabel, type Metrics } from './metrics.ts';

/** Sets the metric of at most `max` policies; the others are only counted. With 0, no policy has the metric. */
export function measurePolicies(
  policies: Iterable<ImagePolicy>,
  max: number,
  { policyReady, policiesWithoutMetric }: Pick<Metrics, 'policyReady' | 'policiesWithoutMetric'>,
): void {
  if (max === 0) return;
  const states = [...policies].map(stateOf);
  const measured = states.length <= max ? states : mostUrgent(states, max);
  policyReady.reset();
  for (const { namespace, name, reason, isReady } of measured) policyReady.set({ namespace, name, reason }, isReady ? 1 : 0);
  policiesWithoutMetric.set(states.length - measured.length);
}

interface State {
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly isReady: boolean;
}

/** The state of a policy for its metric. Unknown reasons get no label of their own, because other writers may be permitted to write a status. */
function stateOf({ namespace, name, status }: ImagePolicy): State {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const reason = ready === undefined ? 'NotReconciled' : isReason(ready.reason) ? ready.reason : otherLabel;
  return { namespace, name, reason, isReady: ready?.status === 'True' };
}

/** The most urgent states, with policies that are not ready first. Each scrape selects the same policies. */
function mostUrgent(states: readonly State[], max: number): State[] {
  const notReady = inTurns(
    states.filter(({ isReady }) => !isReady),
    max,
  );
  return [
    ...notReady,
    ...inTurns(
      states.filter(({ isReady }) => isReady),
      max - notReady.length,
    ),
  ];
}

/**
 * One state of each namespace, then a second one of each, and so on, in the order of their names. A namespace with many policies therefore does not crowd out
 * others. Only the names in a namespace are sorted, because a scrape of 100,000 policies must not delay pushes.
 */
function inTurns(states: readonly State[], max: number): State[] {
  const namespaces = [...Map.groupBy(states, ({ namespace }) => namespace)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  for (const group of namespaces) group.sort((a, b) => (a.name < b.name ? -1 : 1));
  const chosen: State[] = [];
  for (let turn = 0, rest = namespaces; rest.length > 0 && chosen.length < max; turn++) {
    rest = rest.filter((group) => group.length > turn);
    chosen.push(...rest.flatMap((group) => group[turn] ?? []));
  }
  return chosen.slice(0, max);
}
