import { WaitError } from '../../core/model/errors.ts';
import { backoffMs, jobBackoff } from '../../core/async/backoff.ts';

/** Limits polls to a few at a time per host, so that slots remain for pushes, and pauses polls of a host that fails. */
export interface PollGate {
  /** Takes a slot at the host; throws WaitError where none is free. */
  enter(host: string, intervalMs: number): PollVisit;
}

/** A poll that holds a slot. */
export interface PollVisit {
  /** Releases the slot, with the registry's failure if there was one. */
  leave(failure?: unknown): void;
}

export interface PollGateOptions {
  /** How many polls of a host may run at once in this process. */
  readonly slotsOf: (host: string) => number;
  readonly now: () => number;
  readonly random: () => number;
}

interface Host {
  running: number;
  /** The number of failures in a row. */
  failures: number;
  pausedUntil: number;
}

/** Polls that found no free slot are retried within a tenth of their interval, and within this time at most. */
const longestRetryMs = 60_000;
const firstTryMs = 1_000;
const maxHosts = 1_000;

/** Creates the gate of this process. It is not shared: each replica detects a failing host by a request of its own. */
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
      // Retries are spread; otherwise all delayed polls would come back together.
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

  /** Tenants choose hosts: when there are too many, those that no longer fail are dropped. */
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
