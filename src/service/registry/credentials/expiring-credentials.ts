import { BoundedMap } from '../../../core/async/bounded-map.ts';
import { type Credential, isCredential, type NoCredential, type ReadOptions } from '../credential.ts';
import { SingleFlight } from '../../../core/async/single-flight.ts';

/** A credential that expires at a time in ms since 1970. */
export interface ExpiringCredential {
  readonly credential: Credential;
  readonly expiresAt: number;
}

export interface ExpiringOptions {
  /** Fetches the credential for a key; throws if a retry may succeed. */
  fetch: (key: string, signal: AbortSignal) => Promise<ExpiringCredential | NoCredential>;
  /** The timeout of `fetch`. Time in which the process is suspended does not count, because a timeout may be cached as "no credential". */
  deadlineMs: number;
  now?: (() => number) | undefined;
}

interface Entry {
  readonly value: Credential | NoCredential;
  readonly usableUntil: number;
  /** The time from which the entry is renewed in the background while it is still used. */
  readonly renewAt: number;
  /** The time before which the entry is not fetched again even if the registry refuses it. Otherwise each push could cause a request to the cloud. */
  readonly fixedUntil: number;
}

/** Returns the credential of a cloud for a key, or why there is none. Results are cached and shared, and credentials are renewed before they expire. */
export type ExpiringCredentials = (key: string, options: ReadOptions) => Promise<Credential | NoCredential>;

const negativeMs = 120_000;
const fixedMs = 60_000;
const marginMs = 60_000;
const renewShare = 0.75;
const ticks = 10;
/** The limit for cached entries. Policies choose the registries, and each registry may need a key of its own. */
const maxEntries = 1_000;

/** Creates a cache of expiring credentials. */
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
        const withoutNew = (why: NoCredential) => (known ? keepPrevious(known, isRefused, askedAt) : negativeEntryOf(why, askedAt));
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
    // A failure is ignored while the credential is still valid, because the next call tries again.
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
 * The entry after the cloud has reported that there is no credential any more, which may be a temporary error. The previous credential stays in use, and is
 * fetched again after a minute. If the registry has refused it as well, it stays in use for that minute only, because other repositories may still accept it.
 */
function keepPrevious({ value, usableUntil }: Entry, isRefused: boolean, askedAt: number): Entry {
  const until = askedAt + fixedMs;
  return { value, usableUntil: isRefused ? Math.min(usableUntil, until) : usableUntil, renewAt: until, fixedUntil: until };
}

function negativeEntryOf(value: NoCredential, askedAt: number): Entry {
  const until = askedAt + negativeMs;
  return { value, usableUntil: until, renewAt: until, fixedUntil: until };
}

/** A signal that aborts after a time. Unlike AbortSignal.timeout, a suspension of the process, however long, uses up at most a tenth of that time. */
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
