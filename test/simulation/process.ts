/** Processes of the simulation: what runs in one can be killed, frozen, or have a clock of its own, wherever it waits. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** The configuration that it was started with: the newer one forbids changes in other namespaces (`crossNamespace: deny`). */
export type Version = 'older' | 'newer';

/** One incarnation of a replica: after a crash there is another one. */
export interface Process {
  readonly name: string;
  readonly version: Version;
  /** It was killed: nothing of it happens any more. */
  isDead: boolean;
  /** It does nothing before this time. */
  frozenUntil: number;
  /** How far its clock is ahead. */
  skewMs: number;
  /** What its end means to servers: they see its connections close. */
  readonly onDeath: (() => void)[];
}

/** Kills it. */
export function kill(process: Process): void {
  process.isDead = true;
  for (const end of process.onDeath) end();
}

const running = new AsyncLocalStorage<Process | undefined>();

/** The process in which this code runs; undefined outside of all of them. */
export function currentProcess(): Process | undefined {
  return running.getStore();
}

/** Runs something in a process, with all that comes of it. */
export function runAs<T>(process: Process | undefined, run: () => T): T {
  return running.run(process, run);
}
