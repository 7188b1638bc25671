import { BoundedMap } from '../../async/bounded-map.ts';
import { type Credential, isCredential, type NoCredential, type ReadOptions } from '../credential.ts';
import { SingleFlight } from '../../async/single-flight.ts';

/** A credential that ends by itself, at a time in milliseconds since 1970. */
export interface ExpiringCredential {
  readonly credential: Credential;
  readonly expiresAt: number;
}

export interface ExpiringOptions {
  /** Throws where the same question may be answered later (retry). */
  fetch: (key: string, signal: AbortSignal) => Promise<ExpiringCredential | NoCredential>;
  /** Time in which this process is held up does not count: that a cloud is silent may be remembered as a fact. */
  deadlineMs: number;
  now?: (() => number) | undefined;
}

interface Entry {
  readonly value: Credential | NoCredential;
  readonly usableUntil: number;
  /** From then on it is renewed, while it is still used. */
  readonly renewAt: number;
  /** Until then not even a refusal is a reason to ask again: whoever may push must not make us ask the cloud for each push. */
  readonly fixedUntil: number;
}

/** Keeps credentials of a cloud, each fetched once for all who want it and renewed before it ends, so that nobody waits; that there is none is remembered too. */
export type ExpiringCredentials = (key: string, options: ReadOptions) => Promise<Credential | NoCredential>;

const negativeMs = 120_000;
const fixedMs = 60_000;
const marginMs = 60_000;
const renewShare = 0.75;
const ticks = 10;
/** Policies name the registries, and each may have a credential of its own. */
const maxEntries = 1_000;

export function createExpiringCredentials({ fetch, deadlineMs, now = Date.now }: ExpiringOptions): ExpiringCredentials {
  const entries = new BoundedMap<string, Entry>(maxEntries);
  const flights = new SingleFlight<Credential | NoCredential>();

  const renew = (key: string, isRefused: boolean, signal?: AbortSignal) =>
    flights.run(
      key,
      async (signal) => {
        const askedAt = now();
        const fetched = await fetch(key, AbortSignal.any([signal, runningTimeout(deadlineMs)]));
        const known = usable(entries.get(key), now());
        const withoutNew = (why: NoCredential) => (known ? keptOf(known, isRefused, askedAt) : refusalOf(why, askedAt));
        const entry = 'why' in fetched ? withoutNew(fetched) : entryOf(fetched, askedAt);
        entries.set(key, entry);
        return entry.value;
      },
      signal,
    );

  return async (key, { refresh, signal }) => {
    const at = now();
    const entry = entries.get(key);
    if (!entry || at >= entry.usableUntil || (refresh && at >= entry.fixedUntil)) return renew(key, refresh, signal);
    // While it can be used, a failure to renew it is nobody's trouble: the next who asks tries again.
    if (at >= entry.renewAt) renew(key, false).catch(() => undefined);
    return entry.value;
  };
}

function entryOf({ credential, expiresAt }: ExpiringCredential, askedAt: number): Entry {
  const lifeMs = Math.max(0, expiresAt - askedAt);
  return {
    value: credential,
    usableUntil: expiresAt - Math.min(marginMs, lifeMs / 10),
    renewAt: askedAt + lifeMs * renewShare,
    fixedUntil: askedAt + fixedMs,
  };
}

function usable(entry: Entry | undefined, at: number): Entry | undefined {
  return entry && isCredential(entry.value) && at < entry.usableUntil ? entry : undefined;
}

/**
 * "There is none" may be a hiccup of the cloud or the truth, and we cannot tell: what it gave before is kept, and asked for again a minute later. What the
 * registry refused as well is kept for that minute only: it may be the truth, but it may also be refused for one repository and be needed for others.
 */
function keptOf({ value, usableUntil }: Entry, isRefused: boolean, askedAt: number): Entry {
  const until = askedAt + fixedMs;
  return { value, usableUntil: isRefused ? Math.min(usableUntil, until) : usableUntil, renewAt: until, fixedUntil: until };
}

function refusalOf(value: NoCredential, askedAt: number): Entry {
  const until = askedAt + negativeMs;
  return { value, usableUntil: until, renewAt: until, fixedUntil: until };
}

/** Like AbortSignal.timeout, but a pause of the process, however long, counts as a tenth at most. */
function runningTimeout(ms: number): AbortSignal {
  const controller = new AbortController();
  let left = ticks;
  const timer = setInterval(() => {
    if (--left > 0) return;
    clearInterval(timer);
    controller.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError'));
  }, ms / ticks);
  timer.unref();
  return controller.signal;
}
