import { ByteBudget, type Reading } from '../../core/model/byte-budget.ts';
import { WaitError } from '../../core/model/errors.ts';
import type { Clock } from './answer-errors.ts';
import type { HostEvent } from './host-limits.ts';
import type { Registry } from './registries.ts';

/** The default memory limit: more than twice the memory of the longest permitted tag list. */
const defaultBytes = 96 * 1024 * 1024;
const waitMs = 30_000;
// The jitter of the wait, as a share, so that answers that were given up together are not requested again together.
const spread = 0.5;

/** The answer that is to be read: `what` names it in messages. */
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

/** An answer that is being read; `signal` aborts when it must be given up. */
export interface BudgetedReading extends Reading {
  readonly signal: AbortSignal;
}

/** Limits the memory of all answers that are being read. The limits per host are not enough, because tenants choose how many hosts there are. */
export interface AnswerBudget {
  /** Runs `read`. If all answers together exceed the limit, the largest one rejects with WaitError(RegistryBusy), and the others continue. */
  run<T>(request: ReadingRequest, read: (reading: BudgetedReading) => Promise<T>): Promise<T>;
}

/** Creates the budget; a process has one. `maxBytes` is 96 MiB unless given. */
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
