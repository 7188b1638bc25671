import { ByteBudget, type Reading } from '../model/byte-budget.ts';
import { WaitError } from '../model/errors.ts';
import type { Clock } from './answer-errors.ts';
import type { HostEvent } from './host-limits.ts';
import type { Registry } from './registries.ts';

/** A list of the largest size takes less than half of it. */
const defaultBytes = 96 * 1024 * 1024;
const waitMs = 30_000;
// Those that were given up together should not come back together.
const spread = 0.5;

/** What is read, for messages, and where. */
export interface ReadingRequest {
  readonly what: string;
  readonly registry: Pick<Registry, 'origin'>;
  readonly signal?: AbortSignal | undefined;
}

export interface AnswerBudgetOptions {
  readonly clock: Clock;
  readonly maxBytes?: number | undefined;
  readonly onEvent?: ((event: HostEvent) => void) | undefined;
}

/** Who reads: `signal` aborts when it is given up. */
export interface BudgetedReading extends Reading {
  readonly signal: AbortSignal;
}

/** Bounds what all answers that are being read hold in memory together: hosts have limits of their own, but strangers choose the hosts. */
export interface AnswerBudget {
  /** Runs what reads. Where all take too much, the largest rejects with a WaitError, and the others go on. */
  run<T>(request: ReadingRequest, read: (reading: BudgetedReading) => Promise<T>): Promise<T>;
}

/** One for a process. */
export function createAnswerBudget({ clock, maxBytes = defaultBytes, onEvent }: AnswerBudgetOptions): AnswerBudget {
  const budget = new ByteBudget(maxBytes);
  const tooLarge = ({ what, registry }: ReadingRequest) => {
    onEvent?.({ host: new URL(registry.origin).host, kind: 'refused', reason: 'RegistryBusy' });
    const at = new Date(Math.ceil(clock.now() + waitMs * (1 + spread * clock.random())));
    const why = `its answer was the largest of those being read, which took more than ${maxBytes} bytes of memory together`;
    return new WaitError('RegistryBusy', at, `${what}: given up, as ${why}; the next try is at ${at.toISOString()}`);
  };
  return {
    async run(request, read) {
      const { signal } = request;
      signal?.throwIfAborted();
      const controller = new AbortController();
      const onAbort = () => controller.abort(signal?.reason);
      const reading = budget.open(() => controller.abort(tooLarge(request)));
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        return await read({ ...reading, signal: controller.signal });
      } finally {
        signal?.removeEventListener('abort', onAbort);
        reading.end();
      }
    },
  };
}
