import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../model/errors.ts';

/** Something that is done again and again. */
export interface Repetition {
  /** Resolves when it has been done, or has failed, for the first time. */
  readonly tried: Promise<void>;
  /** Does it now, or once more if it is being done now. */
  soon(): void;
  /** Resolves when it has ended; what is being done is aborted. */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  readonly everyMs: number;
  /** The pause after the failure number `failures` (from 0) in a row. */
  readonly backoffMs: (failures: number) => number;
  /** Told when it fails, but not again while it fails for the same reason. */
  readonly onProblem: (error: unknown) => void;
}

/** Does `task` at once and then every `everyMs`; after a failure sooner. Does not keep the process alive. */
export function repeat(task: (signal: AbortSignal) => Promise<void> | void, { everyMs, backoffMs, onProblem }: RepeatOptions): Repetition {
  const stopping = new AbortController();
  let wake = new AbortController();
  let failures = 0;
  let told = '';
  const tried = Promise.withResolvers<void>();

  const once = async (): Promise<number> => {
    try {
      await task(stopping.signal);
      failures = 0;
      told = '';
      return everyMs;
    } catch (error) {
      const problem = describeError(error);
      if (!stopping.signal.aborted && problem !== told) onProblem(error);
      told = problem;
      return Math.min(everyMs, backoffMs(failures++));
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      const pauseMs = await once();
      tried.resolve();
      await delay(pauseMs, undefined, { signal: wake.signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();
  return {
    tried: tried.promise,
    soon: () => wake.abort(),
    async stop() {
      stopping.abort();
      wake.abort();
      await ended;
    },
  };
}
