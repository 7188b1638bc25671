import { WaitError } from '../../core/model/errors.ts';
import { backoffMs, jobBackoff } from '../../core/async/backoff.ts';

/** Limits the simultaneous polls of each host, so that slots remain for pushes, and pauses the polls of a host that fails. */
export interface PollGate {
  /** Takes a slot at the host; throws WaitError if none is free. */
  enter(host: string, intervalMs: number): PollVisit;
}

/** A poll that holds a slot. */
export interface PollVisit {
  /** Releases the slot, with the registry's failure if there was one. */
  leave(failure?: unknown): void;
}

export interface PollGateOptions {
  /** How many polls of a host may run at the same time in this process. */
  readonly slotsOf: (host: string) => number;
  readonly now: () => number;
  readonly random: () => number;
}

interface Host {
  running: number;
  /** The number of failures of the host in a row. */
  failures: number;
  pausedUntil: number;
}

/** The maximum delay of the next try if no slot is free; the other limit is a tenth of the interval. */
const longestRetryMs = 60_000;
const firstTryMs = 1_000;
const maxHosts = 1_000;

/** Creates the gate of this process. Replicas do not share it: each one detects a failing host by a request of its own. */
export function createPollGate({ slotsOf, now, random }: PollGateOptions): PollGate {
  const hosts = new Map<string, Host>();
  const waitFor = (until: number, spreadMs: number, why: string) => {
    const at = new Date(Math.ceil(until + firstTryMs + random() * spreadMs));
    return new WaitError('Retrying', at, `${why}: the poll waits until ${at.toISOString()}`);
  };
  return {
    enter(name, intervalMs) {
      prune();
      const host = hosts.get(name) ?? { running: 0, failures: 0, pausedUntil: 0 };
      hosts.set(name, host);
      // The retries are spread, so that the delayed polls do not all come back together.
      if (host.pausedUntil > now()) throw waitFor(host.pausedUntil, intervalMs / 10, `polls of ${name} are paused after a failure`);
      if (host.running >= slotsOf(name))
        throw waitFor(now(), Math.min(intervalMs / 10, longestRetryMs), `other polls of ${name} are running`);
      host.running++;
      return {
        leave(failure) {
          host.running--;
          note(host, failure);
          if (host.running === 0 && host.failures === 0) hosts.delete(name);
        },
      };
    },
  };

  /** Drops hosts that no longer fail if there are too many, because tenants choose hosts. */
  function prune(): void {
    if (hosts.size < maxHosts) return;
    for (const [name, { running, pausedUntil }] of hosts) if (running === 0 && pausedUntil <= now()) hosts.delete(name);
  }

  function note(host: Host, failure: unknown): void {
    if (failure === undefined) {
      host.failures = 0;
      return;
    }
    host.failures++;
    const until = failure instanceof WaitError ? failure.until.getTime() : now() + backoffMs(host.failures, random, jobBackoff);
    host.pausedUntil = Math.max(host.pausedUntil, until);
  }
}
