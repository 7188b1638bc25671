import type { Clock } from './answer-errors.ts';

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * A circuit breaker.
 * ```
 *           5 failures in a row                 the pause is over
 *  closed ─────────────────────▶ open (1 … 60 s) ──────────▶ half-open: one request tries it
 *    ▲                            ▲  the pause doubles            │    │
 *    │                            └───────────── it fails ────────┘    │
 *    └──────────────────────── any answer ─────────────────────────────┘
 * ```
 */
export interface Circuit {
  readonly state: CircuitState;
  /** Whether requests to the host have failed since the last success. */
  readonly hasFailures: boolean;
  /** Why and until when requests are refused; undefined if they are allowed. */
  refusal(): { readonly until: number; readonly why: string } | undefined;
  /** Records that a request begins. */
  begin(): void;
  /** Records that the host has answered. */
  succeed(): void;
  /** Records that the host has not answered. `subject` is the requested resource, if requests for other resources might have been answered. */
  fail(why: string, subject?: string): void;
  /** Records that the request was aborted or blocked, which shows nothing about the host. */
  forget(): void;
}

const threshold = 5;
const firstPauseMs = 1_000;
const maxPauseMs = 60_000;
// The pause for requests that arrive while the half-open circuit runs its one request.
const whileProbingMs = 1_000;

/** Creates a closed circuit. */
export function createCircuit(
  { now, random }: Clock,
  onChange: (state: CircuitState, lastFailure: string) => void = () => undefined,
): Circuit {
  let state: CircuitState = 'closed';
  let failures = 0;
  let lastWhy = '';
  let pauseMs = 0;
  let until = 0;
  const subjects = new Set<string>();

  const change = (next: CircuitState) => {
    if (next === state) return;
    state = next;
    onChange(next, lastWhy);
  };
  const open = () => {
    pauseMs = Math.min(pauseMs === 0 ? firstPauseMs : pauseMs * 2, maxPauseMs);
    until = now() + Math.round(pauseMs * (1 - 0.2 * random()));
    change('open');
  };

  return {
    get state() {
      return state;
    },
    get hasFailures() {
      return failures > 0;
    },
    refusal() {
      if (state === 'closed' || (state === 'open' && now() >= until)) return undefined;
      return { until: state === 'open' ? until : now() + whileProbingMs, why: `it failed ${failures} times in a row, at last: ${lastWhy}` };
    },
    begin() {
      if (state === 'open') change('half-open');
    },
    succeed() {
      failures = 0;
      pauseMs = 0;
      subjects.clear();
      change('closed');
    },
    fail(why, subject) {
      // Failures of requests that were running when the circuit opened show nothing new.
      if (state === 'open') return;
      failures++;
      lastWhy = why;
      if (subject !== undefined && subjects.size < threshold) subjects.add(subject);
      // Failures of a single repository show nothing about the other repositories of the host.
      const isWholeHost = subject === undefined || subjects.size > 1;
      if (state === 'half-open' || (failures >= threshold && isWholeHost)) open();
    },
    forget() {
      if (state === 'half-open') change('open');
    },
  };
}
