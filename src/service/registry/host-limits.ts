/** Limits the requests to each host by concurrency slots, a rate, pauses and a circuit breaker. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { defined } from '../../core/model/defined.ts';
import { WaitError } from '../../core/model/errors.ts';
import type { Reason } from '../../core/model/reasons.ts';
import type { Clock } from './answer-errors.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { type CircuitState, type Circuit, createCircuit } from './circuit.ts';
import { createHostPause, createPullQuota, type HostPause, type PullQuota } from './host-pause.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { RegistrySettings } from './registries.ts';
import { createSharedGate, type SharedGate, type SharedSlots } from './shared-slots.ts';

/** Changes of a host, for metrics and logs. */
export type HostEvent =
  | { readonly host: string; readonly kind: 'circuit'; readonly state: CircuitState; readonly why: string }
  | { readonly host: string; readonly kind: 'refused'; readonly reason: Reason }
  | { readonly host: string; readonly kind: 'details'; readonly why: string }
  | { readonly host: string; readonly kind: 'pulls'; readonly remaining: number; readonly limit: number };

export interface HostLimitsOptions {
  settings: (host: string) => RegistrySettings | undefined;
  clock: Clock;
  /** The timeout of one request, in ms. */
  timeoutMs: number;
  shared?: SharedSlots | undefined;
  onEvent?: ((event: HostEvent) => void) | undefined;
  /** The time without a finished request after which fewer requests may wait for a host. */
  stuckAfterMs?: number | undefined;
}

/** A request that needs a slot of its host. */
export interface SlotRequest {
  readonly host: string;
  /** The name of the request in messages. */
  readonly what: string;
  /** The account whose pull quota the request uses, if the request is a pull. */
  readonly pullBy?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a request ended: with an answer, without one, or so that it shows nothing about the host. */
export type RequestEnd =
  | AnswerEnd
  | { readonly kind: 'failure'; readonly why: string; readonly subject?: string }
  | { readonly kind: 'nothing' };

/** The answer that ended a request; `account` is the account whose quota the host may count the request against. */
interface AnswerEnd {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly subject: string;
  readonly account: string | undefined;
  readonly isPull: boolean;
}

export interface Slot {
  /** Releases the slot; must be called once. Returns the time before which the request must not be repeated, if the answer demands that. */
  release(end: RequestEnd): number | undefined;
}

interface Host {
  readonly limiter: Limiter;
  readonly circuit: Circuit;
  readonly pause: HostPause;
  readonly quota: PullQuota;
  readonly gate: SharedGate | undefined;
}

const defaultConcurrency = 8;
/** The limit for slots of a host. Workers process 256 pushes and 256 policies at a time: no host may occupy all of them, and a silent host only a few. */
const maxSlots = 248;
const maxRunning = 48;
const maxWaitingWhenStuck = 8;
const maxHosts = 10_000;
// The jitter of a pause, as a share, so that requests that were refused together are not repeated together.
const spread = 0.1;
const minSpreadMs = 500;
/** The minimum jitter for busy hosts. They have a retry schedule already, but each replica has its own. */
const minBusySpreadMs = 100;

/** The limits, pauses and circuit of each host. A slow or broken host never affects another. */
export class HostLimits {
  readonly #hosts = new BoundedMap<string, Host>(maxHosts);
  readonly #options: HostLimitsOptions;

  constructor(options: HostLimitsOptions) {
    this.#options = options;
  }

  /** Waits for a slot of the host. Rejects with WaitError if the host must not be requested now, and with the signal's reason. */
  async acquire(request: SlotRequest): Promise<Slot> {
    const host = this.#hosts.get(request.host) ?? this.#create(request.host);
    this.#hosts.set(request.host, host);
    const releases: (() => void)[] = [];
    const release = () => {
      for (const end of releases.toReversed()) end();
      this.#forget(request.host, host);
    };
    try {
      this.#refuse(host, request);
      releases.push(await host.limiter.acquire(request.signal));
      if (host.gate) releases.push(await host.gate(request.signal));
      // The host may have failed or asked for a pause during the wait for the slot.
      this.#refuse(host, request);
    } catch (error) {
      release();
      throw error instanceof Busy ? this.#toWait(request, 'RegistryBusy', error) : error;
    }
    host.circuit.begin();
    return {
      release: (end) => {
        const until = this.#observe(request.host, host, end);
        release();
        return until;
      },
    };
  }

  /** Throws WaitError if the host must not be requested now. */
  #refuse({ pause, quota, circuit }: Host, request: SlotRequest): void {
    const now = this.#options.clock.now();
    const { host, pullBy } = request;
    if (pause.until > now) {
      throw this.#toWait(request, 'RegistryThrottled', { message: `${host} asked for a pause`, until: pause.until });
    }
    const until = pullBy === undefined ? 0 : quota.until(pullBy);
    if (until > now) throw this.#toWait(request, 'RegistryThrottled', { message: `${host} allows no more pulls at present`, until });
    const refusal = circuit.refusal();
    if (refusal) {
      const message = `${host} gets no requests for a while, because ${refusal.why}`;
      throw this.#toWait(request, 'RegistryUnavailable', { message, until: refusal.until });
    }
  }

  #toWait({ host, what }: SlotRequest, reason: Reason, { message, until }: { message: string; until: number }): WaitError {
    const { clock, onEvent } = this.#options;
    onEvent?.({ host, kind: 'refused', reason });
    const waitMs = until - clock.now();
    const spreadMs = Math.max(waitMs * spread, reason === 'RegistryBusy' ? minBusySpreadMs : minSpreadMs);
    const at = new Date(Math.ceil(until + spreadMs * clock.random()));
    return new WaitError(reason, at, `${what}: ${message}; the next try is at ${at.toISOString()}`);
  }

  #observe(name: string, { circuit, pause, quota }: Host, end: RequestEnd): number | undefined {
    if (end.kind === 'nothing') circuit.forget();
    if (end.kind === 'failure') circuit.fail(end.why, end.subject);
    if (end.kind !== 'answer') return undefined;
    const { status, headers, account, subject, isPull } = end;
    const rate = account === undefined ? undefined : quota.observe(account, headers);
    if (rate) this.#options.onEvent?.({ host: name, kind: 'pulls', remaining: rate.remaining, limit: rate.limit });
    const { now } = this.#options.clock;
    // If a pull quota is spent, only pulls wait; HEAD requests continue.
    const isSpent = status === 429 && isPull && rate?.remaining === 0;
    const until = isSpent && account !== undefined ? quota.until(account) : pause.observe(status, headers);
    if (status < 500 || status === 501 || (until !== undefined && until > now())) circuit.succeed();
    else circuit.fail(`it answered ${status}`, subject);
    return until;
  }

  #create(name: string): Host {
    const { settings: find, clock, timeoutMs, shared, onEvent, stuckAfterMs = 1_000 } = this.#options;
    const { concurrency, requestsPerSecond } = find(name) ?? {};
    const limits = { ...defined({ concurrency, requestsPerSecond }) };
    const running = Math.min(concurrency ?? defaultConcurrency, maxRunning);
    const refuse = (why: string, waitMs: number) => new Busy(`${name} is busy: ${why}`, clock.now() + waitMs);
    return {
      limiter: createLimiter({
        concurrency: running,
        requestsPerSecond,
        now: clock.now,
        queue: { maxWaiting: maxSlots - running, maxWaitingWhenStuck, stuckAfterMs, maxPaceMs: 1_000, refuse },
      }),
      circuit: createCircuit(clock, (state, why) => onEvent?.({ host: name, kind: 'circuit', state, why })),
      pause: createHostPause(clock.now),
      quota: createPullQuota(clock.now),
      gate:
        shared && Object.keys(limits).length > 0
          ? createSharedGate({
              slots: shared,
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

  /** Drops the state of a host without running requests, pauses or failures, unless it is configured, because tenants choose how many hosts there are. */
  #forget(name: string, { limiter, circuit, pause, quota }: Host): void {
    const isKnown = circuit.hasFailures || pause.until > 0 || quota.isKnown || this.#options.settings(name) !== undefined;
    if (!isKnown && limiter.isIdle) this.#hosts.delete(name);
  }
}

/** Thrown if too many requests wait for a host. */
class Busy extends Error {
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}
