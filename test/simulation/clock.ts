/**
 * Virtual time. While it is installed, timers, Date, performance.now and Math.random are those of the simulation, so the real parts run on it without knowing. Time
 * stands still while code runs, and jumps to the next timer when nothing is left to do: a minute takes some milliseconds.
 *
 * Each timer belongs to the process that set it (`process.ts`): those of a dead process never fire, and those of a frozen one fire when it goes on.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { createTimerQueue, type Entry } from './timer-queue.ts';
import { currentProcess, runAs, type Process } from './process.ts';
import type { Random } from './random.ts';

export interface Clock {
  /** Milliseconds since 1970, by no process's clock. */
  now(): number;
  /** Calls `run` in a process (undefined: outside of all of them) after a time. */
  schedule(process: Process | undefined, delayMs: number, run: () => void): void;
  /** Lets time pass until then; ends early when `isOver` says so after a step. */
  runUntil(at: number, isOver?: () => boolean): Promise<void>;
  /** Time stands still until the real event loop has had a turn: streams go on over many ticks. */
  takeTurn(): void;
  uninstall(): void;
}

const realImmediate = setImmediate;
/** How often the real event loop gets a turn, so that the program can be interrupted. */
const stepsPerTurn = 2_000;

/** Installs it; there can be one at a time. */
export function installClock(start: number, random: Random): Clock {
  const queue = createTimerQueue();
  let now = start;
  let steps = 0;
  let needsTurn = false;
  const schedule = (process: Process | undefined, delayMs: number, run: () => void): Entry =>
    queue.add(now + Math.max(0, Math.ceil(delayMs)), process, run);
  const restore = replaceGlobals({
    now: () => Math.floor(now),
    random: random.next,
    schedule: (delayMs, run) => schedule(currentProcess(), delayMs, run),
    cancel: queue.cancel,
  });
  return {
    now: () => now,
    schedule: (process, delayMs, run) => void schedule(process, delayMs, run),
    async runUntil(at, isOver = () => false) {
      for (;;) {
        await settle();
        if (needsTurn || ++steps % stepsPerTurn === 0) {
          needsTurn = false;
          await new Promise((resolve) => realImmediate(resolve));
        }
        if (isOver()) return;
        const next = queue.takeFirst(at);
        if (next === undefined) break;
        now = Math.max(now, next.at);
        const { process } = next;
        if (process?.isDead === true) continue;
        if (process !== undefined && process.frozenUntil > now) queue.add(process.frozenUntil, process, next.run);
        else runAs(process, next.run);
      }
      now = Math.max(now, at);
    },
    takeTurn() {
      needsTurn = true;
    },
    uninstall: restore,
  };
}

/** Everything that can go on without a timer has gone on: twice, because what other ticks start comes after the first. */
async function settle(): Promise<void> {
  await new Promise<void>((resolve) => process.nextTick(resolve));
  await new Promise<void>((resolve) => process.nextTick(resolve));
}

interface Means {
  readonly now: () => number;
  readonly random: () => number;
  readonly schedule: (delayMs: number, run: () => void) => Entry;
  readonly cancel: (entry: Entry) => void;
}

/** Replaces what reads the time, waits, or is random; returns what restores it. */
function replaceGlobals({ now, random, schedule, cancel }: Means): () => void {
  const RealDate = Date;
  const skewed = () => now() + (currentProcess()?.skewMs ?? 0);
  class VirtualDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      if (given.length === 0) super(skewed());
      else super(given[0]);
    }
    static override now(): number {
      return skewed();
    }
  }
  class Timer {
    #entry: Entry;
    readonly #again: () => Entry;
    constructor(again: () => Entry) {
      this.#again = again;
      this.#entry = again();
    }
    ref(): this {
      return this;
    }
    unref(): this {
      return this;
    }
    hasRef(): boolean {
      return true;
    }
    refresh(): this {
      this.stop();
      this.#entry = this.#again();
      return this;
    }
    stop(): void {
      cancel(this.#entry);
    }
    /** The next turn of an interval. */
    goOn(entry: Entry): void {
      this.#entry = entry;
    }
  }
  const stop = (timer: unknown) => {
    if (timer instanceof Timer) timer.stop();
  };
  const later =
    (run: (...given: unknown[]) => void, ...given: unknown[]) =>
    () =>
      run(...given);
  const setTimeout = (run: (...given: unknown[]) => void, delayMs = 1, ...given: unknown[]) =>
    new Timer(() => schedule(Math.max(1, delayMs), later(run, ...given)));
  const setInterval = (run: (...given: unknown[]) => void, delayMs = 1, ...given: unknown[]) => {
    const turn = () => {
      timer.goOn(schedule(Math.max(1, delayMs), turn));
      run(...given);
    };
    const timer = new Timer(() => schedule(Math.max(1, delayMs), turn));
    return timer;
  };
  const setImmediate = (run: (...given: unknown[]) => void, ...given: unknown[]) => new Timer(() => schedule(0, later(run, ...given)));
  const sleep = (delayMs = 1, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        timer.stop();
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      }, delayMs);
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  const nextTurn = () => new Promise<void>((resolve) => void setImmediate(() => resolve()));
  let uuids = 0;
  const randomUUID = () => `00000000-0000-4000-8000-${(++uuids).toString(16).padStart(12, '0')}`;
  const restores = [
    replace(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout: stop, clearInterval: stop, clearImmediate: stop }),
    replace(globalThis, { Date: VirtualDate }),
    replace(performance, { now }),
    replace(Math, { random }),
    replace(timersPromises, { setTimeout: sleep, setImmediate: nextTurn }),
    replace(crypto, { randomUUID }),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** Replaces members of an object; returns what puts the old ones back. */
function replace(object: object, members: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(members).map((name) => [name, Object.getOwnPropertyDescriptor(object, name)] as const);
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: true });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(object, name);
      else Object.defineProperty(object, name, descriptor);
    }
  };
}
