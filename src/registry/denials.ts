import { PermanentError } from '../model/errors.ts';
import type { Clock } from './answer-errors.ts';
import { BoundedMap } from '../async/bounded-map.ts';

/**
 * What registries refuse at present. Some count failed logins, for everybody behind the same address, so that what was refused is not asked for again at once:
 * the pauses grow as the time since the first refusal does, and one request at a time goes to see.
 */
export interface Denials {
  /**
   * A request goes out, now, which is returned. Throws what it would be answered instead, where that is known since `heardAt`, when whoever asks heard of a
   * reason to ask; without that, the registry is always asked.
   */
  begin(key: string, heardAt?: number): number;
  /** The registry has refused it; the error says when to try again. */
  refuse(key: string, askedAt: number, message: string): PermanentError;
  /** The registry has answered it. */
  forget(key: string): void;
}

/** Times are in ms since 1970. */
interface Denial {
  readonly message: string;
  /** The first refusal in a row. */
  readonly since: number;
  /** When the last request went out. */
  askedAt: number;
  until: number;
}

const shortestMs = 5_000;
const longestMs = 1_800_000;
const maxDenials = 10_000;
/** What was refused longer ago than so many of its pauses is another story: somebody else may have been answered meanwhile. */
const forgottenAfter = 4;
// Those who were turned away together should not come back together.
const spread = 0.1;
const minSpreadMs = 500;

/** Nothing is refused yet. */
export function createDenials({ now, random }: Clock): Denials {
  const denials = new BoundedMap<string, Denial>(maxDenials);
  const denied = (message: string, until: number) => {
    const spreadMs = Math.max((until - now()) * spread, minSpreadMs) * random();
    return new PermanentError('RegistryDenied', message, { retryAt: new Date(Math.ceil(until + spreadMs)) });
  };
  return {
    begin(key, heardAt) {
      const at = now();
      const known = denials.get(key);
      if (known === undefined) return at;
      const until = heardAt === undefined ? at : heardAt <= known.askedAt ? known.until : known.askedAt + shortestMs;
      if (at < until) throw denied(known.message, until);
      if (at > known.until + forgottenAfter * (known.until - known.askedAt)) denials.delete(key);
      else Object.assign(known, { askedAt: at, until: Math.max(known.until, at + shortestMs) });
      return at;
    },
    refuse(key, askedAt, message) {
      const at = now();
      const since = denials.get(key)?.since ?? askedAt;
      const until = at + Math.min(Math.max(at - since, shortestMs), longestMs);
      denials.set(key, { message, since, askedAt, until });
      return denied(message, until);
    },
    forget: (key) => void denials.delete(key),
  };
}
