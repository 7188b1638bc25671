import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { policyStates, stateOf } from '../../core/model/policy-state.ts';
import { isReason } from '../../core/model/reasons.ts';
import { otherLabel, type Metrics } from './metrics.ts';

/** Counts the policies by state, and sets the metric of at most `max` policies of their own; the others are only counted. With 0, no policy has that one. */
export function measurePolicies(
  policies: Iterable<ImagePolicy>,
  max: number,
  { policiesInState, policyReady, policiesWithoutMetric }: Metrics,
): void {
  const all = [...policies];
  const counts = new Map(policyStates.map((state) => [state, 0]));
  for (const policy of all) {
    const state = stateOf(policy);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  for (const [state, count] of counts) policiesInState.set({ state }, count);
  if (max === 0) return;
  const states = all.map(readinessOf);
  const measured = states.length <= max ? states : mostUrgent(states, max);
  policyReady.reset();
  for (const { namespace, name, reason, isReady } of measured) policyReady.set({ namespace, name, reason }, isReady ? 1 : 0);
  policiesWithoutMetric.set(states.length - measured.length);
}

interface Readiness {
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly isReady: boolean;
}

/** The readiness of a policy for its metric. Unknown reasons get no label of their own, because other writers may be permitted to write a status. */
function readinessOf({ namespace, name, status }: ImagePolicy): Readiness {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const reason = ready === undefined ? 'NotReconciled' : isReason(ready.reason) ? ready.reason : otherLabel;
  return { namespace, name, reason, isReady: ready?.status === 'True' };
}

/** The most urgent states, with policies that are not ready first. Each scrape selects the same policies. */
function mostUrgent(states: readonly Readiness[], max: number): Readiness[] {
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
function inTurns(states: readonly Readiness[], max: number): Readiness[] {
  const namespaces = [...Map.groupBy(states, ({ namespace }) => namespace)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  for (const group of namespaces) group.sort((a, b) => (a.name < b.name ? -1 : 1));
  const chosen: Readiness[] = [];
  for (let turn = 0, rest = namespaces; rest.length > 0 && chosen.length < max; turn++) {
    rest = rest.filter((group) => group.length > turn);
    chosen.push(...rest.flatMap((group) => group[turn] ?? []));
  }
  return chosen.slice(0, max);
}
