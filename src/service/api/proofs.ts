/** What the API server has confirmed about callers. */
import { setTimeout as delay } from 'node:timers/promises';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { AccessError } from './access.ts';

/** Confirmed answers by their questions. */
export interface Proofs<V> {
  /**
   * The answer to a question: a fresh one from memory, or a new one. With `mayBeOld`, an older one counts while the API server does not answer, for a bounded
   * time. Simultaneous callers share one question.
   */
  get(key: string, ask: () => Promise<V>, mayBeOld: boolean): Promise<V>;
}

export interface ProofLimits {
  /** How long an answer counts without being asked for again. */
  readonly freshMs: number;
  /** How long an answer counts while there is no new one. */
  readonly oldMs: number;
  /** The most answers that are remembered. Beyond it, the least recently used is forgotten. */
  readonly limit: number;
  /** A monotonic clock in ms, so that a clock that is set back makes no answer last longer. */
  readonly elapsed: () => number;
}

/** How long somebody with an old answer waits for a new one, and how long afterwards no new one is waited for. */
const patienceMs = 1_000;
const pauseMs = 5_000;

/** Creates an empty memory. */
export function createProofs<V>({ freshMs, oldMs, limit, elapsed }: ProofLimits): Proofs<V> {
  const known = new BoundedMap<string, { readonly at: number; readonly answer: V }>(limit);
  const asked = new Map<string, Promise<V>>();
  let failedAt = -Infinity;
  const askOnce = (key: string, ask: () => Promise<V>) => {
    const at = elapsed();
    const asking =
      asked.get(key) ??
      ask()
        .then((answer) => {
          known.set(key, { at, answer });
          return answer;
        })
        .finally(() => asked.delete(key));
    asked.set(key, asking);
    return asking;
  };
  return {
    async get(key, ask, mayBeOld) {
      const last = known.get(key);
      const age = last === undefined ? Infinity : elapsed() - last.at;
      if (last !== undefined && age < freshMs) return last.answer;
      if (last === undefined || !mayBeOld || age >= oldMs) return askOnce(key, ask);
      if (elapsed() - failedAt < pauseMs) return last.answer;
      const asking = askOnce(key, ask);
      try {
        const late = delay(patienceMs, 'late' as const, { ref: false });
        const first = await Promise.race([asking.then((answer) => ({ answer })), late]);
        if (first !== 'late') return first.answer;
        asking.catch(() => undefined);
      } catch (error) {
        if (isAnswer(error)) throw error;
      }
      failedAt = elapsed();
      return last.answer;
    },
  };
}

/** Whether an error decides: a limit of ours, or a refusal of an API server that is not overloaded. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return false;
  return error.status >= 400 && error.status < 500 && (error instanceof AccessError || error.status !== 429);
}
