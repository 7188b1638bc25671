import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { describeConnectionError } from '../../core/model/connection-failure.ts';
import { ProofUnavailable } from './authenticate.ts';
import type { FetchText } from './fetch-text.ts';

/** The public keys of an issuer, as its JWKS address publishes them. */
export interface KeySet {
  /** Finds the key of a token. Rejects with ProofUnavailable if the keys cannot be fetched. */
  readonly find: JWTVerifyGetKey;
  /** Fetches the keys before they are needed; reports problems to `onError` only. */
  warm(): Promise<void>;
}

export interface KeySetOptions {
  /** The JWKS address, from the configuration or from our code. */
  readonly url: string;
  readonly fetchText: FetchText;
  /** A monotonic clock in ms. */
  readonly elapsed: () => number;
  readonly onError: (error: Error) => void;
}

const timeoutMs = 5_000;
/** The age at which known keys are refreshed. Issuers publish a new key hours before they use it. */
const refreshAfterMs = 10 * 60_000;
/** How long known keys are used while the issuer's server does not answer. */
const lifeMs = 24 * 3_600_000;
/** The pause between refreshes for unknown keys. A token with an unknown key causes one, and unauthenticated clients can send any number of those. */
const cooldownMs = 30_000;
const retryMs = 2_000;

/**
 * Creates a key set. It is fetched once for all who wait for it, refreshed in the background, and used for a day while its server does not answer. With jose's
 * own remote set, requests would wait for each refresh, and be refused when it fails.
 */
export function createKeySet({ url, fetchText, elapsed, onError }: KeySetOptions): KeySet {
  let keys: JWTVerifyGetKey | undefined;
  let fetchedAt = -Infinity;
  let failedAt = -Infinity;
  let flight: Promise<boolean> | undefined;

  const load = async (): Promise<boolean> => {
    try {
      keys = createLocalJWKSet(JSON.parse(await fetchText(url, AbortSignal.timeout(timeoutMs))) as JSONWebKeySet);
      fetchedAt = elapsed();
      return true;
    } catch (error) {
      failedAt = elapsed();
      onError(new Error(`fetching the keys of ${url}: ${describeConnectionError(error)}`));
      return false;
    }
  };
  /** Fetches the keys, once for all callers; resolves to whether they are newer than before. */
  const refresh = (): Promise<boolean> => {
    if (flight !== undefined) return flight;
    if (elapsed() - failedAt < retryMs) return Promise.resolve(false);
    flight = load().finally(() => (flight = undefined));
    return flight;
  };
  const unavailable = () => new ProofUnavailable(`the keys of ${url} cannot be fetched`);

  return {
    async find(header, token) {
      if (elapsed() - fetchedAt > lifeMs && !(await refresh())) throw unavailable();
      if (elapsed() - fetchedAt > refreshAfterMs) void refresh();
      if (keys === undefined) throw unavailable();
      try {
        return await keys(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || elapsed() - fetchedAt < cooldownMs) throw error;
        if (!(await refresh())) throw unavailable();
        return keys(header, token);
      }
    },
    async warm() {
      await refresh();
    },
  };
}
