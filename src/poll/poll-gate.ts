import { WaitError } from '../model/errors.ts';
import { backoffMs, jobBackoff } from '../async/backoff.ts';

/** Lets polls through to registries: a few at a time of each host, so that pushes find a place, and none at a host that is in trouble. */
export interface PollGate {
  /** Takes a place at the host; throws WaitError where there is none at present. */
  enter(host: string, intervalMs: number): PollVisit;
}

/** A poll that was let through. */
export interface PollVisit {
  /** Gives the place back, with what the registry failed with, if it failed. */
  leave(failure?: unknown): void;
}

export interface PollGateOptions {
  /** How many polls of a host may run at once in this process. */
  readonly placesOf: (host: string) => number;
  readonly now: () => number;
  readonly random: () => number;
}

interface Host {
  running: number;
  /** How often in a row it failed. */
  failures: number;
  pausedUntil: number;
}

/** Those who found no place come again within a tenth of their interval, and within this time at most. */
const longestTurnMs = 60_000;
const firstTryMs = 1_000;
const maxHosts = 1_000;

/** A gate of this process: what one replica learns of a host, the others learn with one request each. */
export function createPollGate({ placesOf, now, random }: PollGateOptions): PollGate {
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
      // Spread, or all who were turned away would come back together.
      if (host.pausedUntil > now()) throw waitFor(host.pausedUntil, intervalMs / 10, `${name} is left alone after a failure`);
      if (host.running >= placesOf(name)) throw waitFor(now(), Math.min(intervalMs / 10, longestTurnMs), `other polls of ${name} run`);
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

  /** Tenants choose hosts: of too many, those that are in trouble no more are forgotten. */
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
