import { policyKey, type ImagePolicy } from '../model/image-policy.ts';
import { isReason } from '../model/reasons.ts';
import { otherLabel, type Metrics } from '../telemetry/metrics.ts';

/** Sets the metric of each policy, of at most `max`; the others are counted. With 0, there are no such metrics. */
export function measurePolicies(
  policies: Iterable<ImagePolicy>,
  max: number,
  { policyReady, policiesWithoutMetric }: Pick<Metrics, 'policyReady' | 'policiesWithoutMetric'>,
): void {
  if (max === 0) return;
  const states = [...policies].map(stateOf);
  const measured = states.length <= max ? states : inTurns(states.sort(byUrgency)).slice(0, max);
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

/** Others may be permitted to write a status: unknown reasons are no labels of their own. */
function stateOf({ namespace, name, status }: ImagePolicy): State {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const reason = ready === undefined ? 'NotReconciled' : isReason(ready.reason) ? ready.reason : otherLabel;
  return { namespace, name, reason, isReady: ready?.status === 'True' };
}

/** Those that are not ready first, then by name: the same policies in each scrape. */
function byUrgency(a: State, b: State): number {
  if (a.isReady !== b.isReady) return a.isReady ? 1 : -1;
  return policyKey(a) < policyKey(b) ? -1 : 1;
}

/** One of each namespace, then a second one of each, and so on, so that a namespace with many policies does not crowd out others. */
function inTurns(states: readonly State[]): State[] {
  const turns = new Map<string, number>();
  const turnOf = ({ namespace, isReady }: State) => {
    const key = `${String(isReady)} ${namespace}`;
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return turn;
  };
  const withTurns = states.map((state) => ({ state, turn: turnOf(state) }));
  // Stable: within a turn the order stays.
  return withTurns.sort((a, b) => Number(a.state.isReady) - Number(b.state.isReady) || a.turn - b.turn).map(({ state }) => state);
}
