import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { WaitError } from '../model/errors.ts';
import type { Reason } from '../model/reasons.ts';
import type { Clock } from './answer-errors.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { type CircuitState, type Circuit, createCircuit } from './circuit.ts';
import { createHostPause, type HostPause } from './host-pause.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import { createPullQuota, type PullQuota } from './pull-quota.ts';
import type { RegistrySettings } from './registries.ts';
import { createSharedGate, type SharedGate, type SharedTurns } from './shared-turns.ts';

/** What became known of a host, for metrics and logs. */
export type HostEvent =
  | { readonly host: string; readonly kind: 'circuit'; readonly state: CircuitState; readonly why: string }
  | { readonly host: string; readonly kind: 'refused'; readonly reason: Reason }
  | { readonly host: string; readonly kind: 'details'; readonly why: string }
  | { readonly host: string; readonly kind: 'pulls'; readonly remaining: number; readonly limit: number };

export interface HostLimitsOptions {
  settings: (host: string) => RegistrySettings | undefined;
  clock: Clock;
  /** Of one request. */
  timeoutMs: number;
  shared?: SharedTurns | undefined;
  onEvent?: ((event: HostEvent) => void) | undefined;
  /** How long no request of a host has to end until fewer may wait for it. */
  stuckAfterMs?: number | undefined;
}

/** A request that wants to go to a host. */
export interface VisitRequest {
  readonly host: string;
  /** For messages. */
  readonly what: string;
  /** Whose pulls it counts to, where it counts as one. */
  readonly pullBy?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a request ended: with an answer (to an account, where the host may count by that), without one, or so that it tells nothing of the host. */
export type VisitEnd =
  | VisitAnswer
  | { readonly kind: 'failure'; readonly why: string; readonly subject?: string }
  | { readonly kind: 'nothing' };

/** `account`: whom it was answered, where the host may count by that. */
interface VisitAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly subject: string;
  readonly account: string | undefined;
  readonly isPull: boolean;
}

export interface Visit {
  /** Must be called once; the time until which whoever made it has to wait, where the answer asks for that. */
  leave(end: VisitEnd): number | undefined;
}

interface Host {
  readonly limiter: Limiter;
  readonly circuit: Circuit;
  readonly pause: HostPause;
  readonly quota: PullQuota;
  readonly gate: SharedGate | undefined;
}

const defaultConcurrency = 8;
/** Workers take 256 pushes and as many policies at a time: no host may have them all, and one from which nothing comes back only a few. */
const maxPlaces = 248;
const maxRunning = 48;
const maxWaitingWhenStuck = 8;
const maxHosts = 10_000;
// Those who were turned away together should not come back together.
const spread = 0.1;
const minSpreadMs = 500;
/** They have times of their own already, but each replica has told its own. */
const minBusySpreadMs = 100;

/** What holds for each host: its limits, its pauses, its circuit. A slow or broken one never holds up another. */
export class HostLimits {
  readonly #hosts = new BoundedMap<string, Host>(maxHosts);
  readonly #options: HostLimitsOptions;

  constructor(options: HostLimitsOptions) {
    this.#options = options;
  }

  /** Waits for a turn at the host. Rejects with WaitError where it must not be asked now, and with the signal's reason. */
  async enter(request: VisitRequest): Promise<Visit> {
    const host = this.#hosts.get(request.host) ?? this.#create(request.host);
    this.#hosts.set(request.host, host);
    const releases: (() => void)[] = [];
    const leave = () => {
      for (const release of releases.toReversed()) release();
      this.#forget(request.host, host);
    };
    try {
      this.#refuse(host, request);
      releases.push(await host.limiter.acquire(request.signal));
      if (host.gate) releases.push(await host.gate(request.signal));
      // While it waited others may have learnt something.
      this.#refuse(host, request);
    } catch (error) {
      leave();
      throw error instanceof Busy ? this.#toWait(request, 'RegistryBusy', error) : error;
    }
    host.circuit.begin();
    return {
      leave: (end) => {
        const until = this.#learn(request.host, host, end);
        leave();
        return until;
      },
    };
  }

  /** Throws WaitError when the host must not be asked now. */
  #refuse({ pause, quota, circuit }: Host, request: VisitRequest): void {
    const now = this.#options.clock.now();
    const { host, pullBy } = request;
    if (pause.until > now) {
      throw this.#toWait(request, 'RegistryThrottled', { message: `${host} asked to be left alone`, until: pause.until });
    }
    const until = pullBy === undefined ? 0 : quota.until(pullBy);
    if (until > now) throw this.#toWait(request, 'RegistryThrottled', { message: `${host} allows no more pulls at present`, until });
    const refusal = circuit.refusal();
    if (refusal) {
      const message = `${host} is not asked for a while, because ${refusal.why}`;
      throw this.#toWait(request, 'RegistryUnavailable', { message, until: refusal.until });
    }
  }

  #toWait({ host, what }: VisitRequest, reason: Reason, { message, until }: { message: string; until: number }): WaitError {
    const { clock, onEvent } = this.#options;
    onEvent?.({ host, kind: 'refused', reason });
    const waitMs = until - clock.now();
    const spreadMs = Math.max(waitMs * spread, reason === 'RegistryBusy' ? minBusySpreadMs : minSpreadMs);
    const at = new Date(Math.ceil(until + spreadMs * clock.random()));
    return new WaitError(reason, at, `${what}: ${message}; the next try is at ${at.toISOString()}`);
  }

  #learn(name: string, { circuit, pause, quota }: Host, end: VisitEnd): number | undefined {
    if (end.kind === 'nothing') circuit.forget();
    if (end.kind === 'failure') circuit.fail(end.why, end.subject);
    if (end.kind !== 'answer') return undefined;
    const { status, headers, account, subject, isPull } = end;
    const rate = account === undefined ? undefined : quota.learn(account, headers);
    if (rate) this.#options.onEvent?.({ host: name, kind: 'pulls', remaining: rate.remaining, limit: rate.limit });
    const { now } = this.#options.clock;
    // Then it is only pulls that have to wait, and HEADs may go on.
    const isSpent = status === 429 && isPull && rate?.remaining === 0;
    const until = isSpent && account !== undefined ? quota.until(account) : pause.learn(status, headers);
    if (status < 500 || status === 501 || (until !== undefined && until > now())) circuit.succeed();
    else circuit.fail(`it answered ${status}`, subject);
    return until;
  }

  #create(name: string): Host {
    const { settings: find, clock, timeoutMs, shared, onEvent, stuckAfterMs = 1_000 } = this.#options;
    const { concurrency, requestsPerSecond } = find(name) ?? {};
    const limits = { ...(concurrency !== undefined && { concurrency }), ...(requestsPerSecond !== undefined && { requestsPerSecond }) };
    const running = Math.min(concurrency ?? defaultConcurrency, maxRunning);
    const refuse = (why: string, waitMs: number) => new Busy(`${name} is busy: ${why}`, clock.now() + waitMs);
    return {
      limiter: createLimiter({
        concurrency: running,
        requestsPerSecond,
        now: clock.now,
        line: { maxWaiting: maxPlaces - running, maxWaitingWhenStuck, stuckAfterMs, maxPaceMs: 1_000, refuse },
      }),
      circuit: createCircuit(clock, (state, why) => onEvent?.({ host: name, kind: 'circuit', state, why })),
      pause: createHostPause(clock.now),
      quota: createPullQuota(clock.now),
      gate:
        shared && Object.keys(limits).length > 0
          ? createSharedGate({
              turns: shared,
              host: name,
              limits,
              lifeMs: 2 * timeoutMs + 5_000,
              newLease: randomUUID,
              refuse,
              now: clock.now,
            })
          : undefined,
    };
  }

  /** Tenants choose hosts: only those of the configuration, and those that something is known of, are kept. */
  #forget(name: string, { limiter, circuit, pause, quota }: Host): void {
    const isKnown = circuit.hasFailures || pause.until > 0 || quota.isKnown || this.#options.settings(name) !== undefined;
    if (!isKnown && limiter.isIdle) this.#hosts.delete(name);
  }
}

/** Too many want to go to a host. */
class Busy extends Error {
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}
