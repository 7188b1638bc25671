import { setTimeout as delay } from 'node:timers/promises';
import { describeError } from '../model/errors.ts';

/** A repeated task. */
export interface Repetition {
  /** Resolves when the first run of the task has finished or failed. */
  readonly tried: Promise<void>;
  /** Runs the task now, or once more if it is running. */
  soon(): void;
  /** Aborts the current run of the task. Resolves when the run has ended. */
  stop(): Promise<void>;
}

export interface RepeatOptions {
  readonly everyMs: number;
  /** The pause after the failure number `failures` (from 0) in a row. */
  readonly backoffMs: (failures: number) => number;
  /** Called when the task fails, but not again while it fails for the same reason. */
  readonly onProblem: (error: unknown) => void;
}

/** Runs `task` immediately and then every `everyMs`, sooner after a failure. Does not keep the process alive. */
export function repeat(task: (signal: AbortSignal) => Promise<void> | void, { everyMs, backoffMs, onProblem }: RepeatOptions): Repetition {
  const stopping = new AbortController();
  let pause = new AbortController();
  let failures = 0;
  let reported = '';
  const tried = Promise.withResolvers<void>();

  const once = async (): Promise<number> => {
    try {
      await task(stopping.signal);
      failures = 0;
      reported = '';
      return everyMs;
    } catch (error) {
      const problem = describeError(error);
      if (!stopping.signal.aborted && problem !== reported) onProblem(error);
      reported = problem;
      return Math.min(everyMs, backoffMs(failures++));
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      pause = new AbortController();
      const pauseMs = await once();
      tried.resolve();
      await delay(pauseMs, undefined, { signal: pause.signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();
  return {
    tried: tried.promise,
    soon: () => pause.abort(),
    async stop() {
      stopping.abort();
      pause.abort();
      await ended;
    },
  };
}
