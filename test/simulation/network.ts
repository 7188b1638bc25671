/** What lies between a process and a server: time, and trouble. Each kind of request draws from a source of its own, so that one request more changes little. */
import { defined } from '../../src/core/model/defined.ts';
import { currentProcess, type Process } from './process.ts';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

export type Server = 'api' | 'registry' | 'redis' | 'endpoint' | 'scanner';

/** How requests fare for a time. */
export interface Trouble {
  readonly from: number;
  readonly until: number;
  /** Whose requests; all processes' unless given. */
  readonly process?: string;
  readonly server: Server;
  /** Only requests that begin so: `PATCH status`. */
  readonly only?: string;
  readonly kind: TroubleKind;
  /** How many of the requests, from 0 to 1. */
  readonly share: number;
}

/** For `refuse` of Redis, which keeps its connections instead. */
export function refuseByRedis(): never {
  throw new Error('simulated');
}

/** How many of the lost answers are lost without a sign: the connection stays open. */
const silentShare = 0.3;

/** slow: seconds late · refused: an error instead of an effect · throttled: the same, with a time to come back · lost: an effect, but no answer. */
export type TroubleKind = 'slow' | 'refused' | 'throttled' | 'lost';

export interface Network {
  /** Sends a request from the current process: `serve` runs at the server, later. */
  send<T>(request: Sending<T>): Promise<T>;
  /** How long a message to a process takes. */
  delayTo(process: Process, what: string): number;
  add(trouble: Trouble): void;
  /** No trouble from now on. */
  calm(): void;
  /** The longest time that a request or message has taken so far: any, or one about a resource. */
  slowestMs(resource?: string): number;
}

export interface Sending<T> {
  readonly server: Server;
  /** `PATCH status`, `HEAD tag`, `ADD push` … */
  readonly what: string;
  readonly serve: (sentAt: number) => T;
  /** What the server answers to a request that it refuses; may throw. */
  readonly refuse: (kind: 'refused' | 'throttled') => T;
  /** Absent where the sender has a deadline of its own: then the answer may never come. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export function createNetwork(clock: Clock, random: Random): Network {
  const sources = new Map<string, Random>();
  let troubles: Trouble[] = [];
  const slowest = new Map<string, number>();
  const measure = (what: string, ms: number) => void slowest.set(what, Math.max(slowest.get(what) ?? 0, ms));
  const sourceOf = (name: string): Random => {
    const known = sources.get(name) ?? random.fork(name);
    sources.set(name, known);
    return known;
  };
  const findTrouble = (process: Process | undefined, server: Server, what: string, source: Random): TroubleKind | undefined => {
    const now = clock.now();
    const found = troubles.find(
      (one) =>
        one.server === server &&
        one.from <= now &&
        now < one.until &&
        (one.process === undefined || one.process === process?.name) &&
        what.startsWith(one.only ?? '') &&
        source.chance(one.share),
    );
    return found?.kind;
  };
  /** One connection keeps the order of what it carries. */
  const lastAt = new Map<string, number>();
  const inOrder = (isOrdered: boolean, way: string, delayMs: number): number => {
    if (!isOrdered) return delayMs;
    const at = Math.max(lastAt.get(way) ?? 0, clock.now() + delayMs);
    lastAt.set(way, at);
    return at - clock.now();
  };
  const network: Network = {
    send: ({ server, what, serve, refuse, timeoutMs, signal }) =>
      new Promise((resolve, reject) => {
        const process = currentProcess();
        // A dead process does nothing, although its code may still reach this point.
        if (process?.isDead === true) return;
        if (process !== undefined && process.frozenUntil > clock.now())
          return clock.schedule(
            process,
            0,
            () => void network.send({ server, what, serve, refuse, ...defined({ timeoutMs }), signal }).then(resolve, reject),
          );
        if (signal?.aborted === true) return reject(signal.reason);
        const source = sourceOf(`${process?.name} ${server} ${what}`);
        const trouble = findTrouble(process, server, what, source);
        const sentAt = clock.now();
        let isOver = false;
        const end = (run: () => void) => {
          if (isOver) return;
          isOver = true;
          signal?.removeEventListener('abort', abort);
          run();
        };
        const abort = () => end(() => reject(signal?.reason));
        signal?.addEventListener('abort', abort, { once: true });
        if (timeoutMs !== undefined)
          clock.schedule(process, timeoutMs, () => end(() => reject(new Error(`${what}: no complete answer within ${timeoutMs} ms`))));
        const isLate = trouble === 'slow';
        const isOrdered = server === 'redis';
        const there = inOrder(
          isOrdered,
          `${process?.name} →`,
          isLate && source.chance(0.5) ? source.between(500, 6_000) : source.between(1, 12),
        );
        const answerMs = isLate ? source.between(500, 6_000) : source.between(1, 12);
        measure(what, there + answerMs);
        clock.schedule(undefined, there, () => {
          const back = inOrder(isOrdered, `${process?.name} ←`, answerMs);
          // A connection to Redis that broke is opened again, and what was not answered is sent again.
          if (isOrdered && trouble === 'lost') attempt(() => serve(sentAt));
          const answer = attempt(() => {
            if (!isOrdered && (trouble === 'refused' || trouble === 'throttled')) return refuse(trouble);
            return serve(sentAt);
          });
          if (trouble === 'lost' && timeoutMs === undefined && source.chance(silentShare)) return;
          if (trouble === 'lost' && !isOrdered)
            return clock.schedule(process, source.between(5, 500), () => end(() => reject(new Error(`${what}: the connection broke`))));
          clock.schedule(process, back, () => end(() => ('value' in answer ? resolve(answer.value) : reject(answer.error))));
        });
      }),
    delayTo(process, what) {
      const source = sourceOf(`to ${process.name} ${what}`);
      const trouble = findTrouble(process, 'api', `WATCH ${what}`, source);
      const delay = trouble === undefined ? source.between(1, 20) : source.between(100, 1_500);
      measure(what, delay);
      return delay;
    },
    add: (trouble) => void troubles.push(trouble),
    calm() {
      troubles = [];
    },
    slowestMs: (resource = '') => Math.max(0, ...[...slowest].flatMap(([what, ms]) => (what.endsWith(resource) ? [ms] : []))),
  };
  return network;
}

function attempt<T>(run: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: run() };
  } catch (error) {
    return { error };
  }
}
