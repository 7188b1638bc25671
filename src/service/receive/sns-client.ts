/** Requests to Amazon SNS: signing certificates, and confirmations of subscriptions. Clients cause them before they are authenticated, so all of them are limited. */
import { X509Certificate, type KeyObject } from 'node:crypto';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import { describeConnectionError } from '../../core/model/connection-failure.ts';
import { ProofUnavailable } from './authenticate.ts';
import { FetchRefused, type FetchText } from './fetch-text.ts';
import type { FindSigningKey, SnsTopic } from './sns-proof.ts';

export interface SigningCertificatesOptions {
  readonly fetchText: FetchText;
  readonly now: () => Date;
  readonly onError: (error: Error) => void;
}

const certificateTimeoutMs = 5_000;
const refreshAfterMs = 24 * 3_600_000;
/** How much longer than usual a certificate is used while AWS does not answer. */
const staleMs = 24 * 3_600_000;
/** The pause after a certificate was not found. Pauses and requests are limited because unauthenticated clients choose the file names. */
const pauseMs = 30_000;
const maxCertificates = 32;
const maxFetches = { perKey: 12, total: 60 };
/** Matches the names in the certificates: sns.amazonaws.com, and names with the region. */
const signerName = /^sns[a-z0-9.-]*\.amazonaws\.com(?:\.cn)?$/;

interface CachedCertificate {
  readonly certificate: X509Certificate;
  /** The time from which the certificate is not used any more. */
  readonly until: number;
  /** The time before which the certificate is not refreshed. */
  refreshAt: number;
}

/**
 * Signing certificates of SNS, from the host of the topic's region and no other. Each file is a single certificate without its chain, as the SDKs of AWS use it:
 * it is trusted because TLS proves the host that it comes from. Its name and its validity are checked as well.
 */
export function createSigningCertificates({ fetchText, now, onError }: SigningCertificatesOptions): FindSigningKey {
  /** Found and missing certificates have a map each: however many names a client invents, none of them evicts a certificate. */
  const known = new BoundedMap<string, CachedCertificate>(maxCertificates);
  const missingUntil = new BoundedMap<string, number>(maxCertificates);
  const flights = new SingleFlight<X509Certificate | undefined>();
  /** The limits by topic, so that a client who knows one topic uses up nothing of the others. The configuration names all topics. */
  const limits = new Map<string, (address: string) => boolean>();

  const fetchCertificate = async (url: string): Promise<X509Certificate | undefined> => {
    try {
      return new X509Certificate(await fetchText(url, AbortSignal.timeout(certificateTimeoutMs)));
    } catch (error) {
      onError(new Error(`fetching the signing certificate ${url}: ${describeConnectionError(error)}`));
      // With 4xx, AWS has no such certificate. Any other failure may be temporary.
      if (error instanceof FetchRefused && error.status < 500 && error.status !== 429) return undefined;
      throw new ProofUnavailable('the signing certificate cannot be fetched', { cause: error });
    }
  };
  const load = async (url: string): Promise<X509Certificate | undefined> => {
    const certificate = await fetchCertificate(url);
    const at = now();
    if (certificate !== undefined && isSigner(certificate, at)) {
      const refreshAt = at.getTime() + refreshAfterMs;
      known.set(url, { certificate, until: refreshAt + staleMs, refreshAt });
      return certificate;
    }
    known.delete(url);
    missingUntil.set(url, at.getTime() + pauseMs);
    return undefined;
  };
  /** Throws ProofUnavailable if the certificate must not be requested now. */
  const limitFetches = (cached: CachedCertificate | undefined, { arn }: SnsTopic, address: string): void => {
    const at = now().getTime();
    if (cached !== undefined) {
      if (at < cached.refreshAt) throw new ProofUnavailable('the signing certificate could not be fetched a moment ago');
      cached.refreshAt = at + pauseMs;
      return;
    }
    const isAllowed = limits.get(arn) ?? createMinuteLimit({ ...maxFetches, now: () => now().getTime() });
    limits.set(arn, isAllowed);
    if (!isAllowed(address)) throw new ProofUnavailable('too many signing certificates were requested in this minute');
  };
  /** Loads a certificate with one request for all deliveries that wait for it. */
  const loadShared = (url: string, topic: SnsTopic, address: string): Promise<X509Certificate | undefined> =>
    flights.run(url, () => {
      limitFetches(known.get(url), topic, address);
      return load(url);
    });
  const find = async (url: string, topic: SnsTopic, address: string): Promise<X509Certificate | undefined> => {
    const at = now().getTime();
    const cached = known.get(url);
    if (cached === undefined) return at < (missingUntil.get(url) ?? 0) ? undefined : loadShared(url, topic, address);
    const isUsable = at < cached.until;
    if (isUsable && at < cached.refreshAt) return cached.certificate;
    try {
      return await loadShared(url, topic, address);
    } catch (error) {
      if (!isUsable) throw error;
      return cached.certificate;
    }
  };

  return async (topic, fileName, address): Promise<KeyObject | undefined> => {
    const certificate = await find(`https://${topic.host}/${fileName}`, topic, address);
    return certificate !== undefined && isSigner(certificate, now()) ? certificate.publicKey : undefined;
  };
}

function isSigner(certificate: X509Certificate, now: Date): boolean {
  if (now < new Date(certificate.validFrom) || now > new Date(certificate.validTo)) return false;
  const alternatives = [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].map(([, name = '']) => name);
  const names = alternatives.length > 0 ? alternatives : [/^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''];
  return certificate.publicKey.asymmetricKeyType === 'rsa' && names.some((name) => signerName.test(name));
}

export interface ConfirmationOptions {
  readonly fetchText: FetchText;
  readonly now: () => number;
  readonly onResult: (topic: SnsTopic, isConfirmed: boolean) => void;
}

const confirmationTimeoutMs = 10_000;
/** The limits of confirmations in a minute. A topic is subscribed once in years, but anybody who has seen a genuine confirmation can send it again. */
const maxConfirmations = { perKey: 6, total: 60 };
const maxRemembered = 64;

/** Confirms subscriptions at URLs that we build, without delaying an answer: each URL once, and only a few in a minute. */
export function createConfirmation({ fetchText, now, onResult }: ConfirmationOptions): (topic: SnsTopic, url: string) => void {
  const isAllowed = createMinuteLimit({ ...maxConfirmations, now });
  const requested = new BoundedMap<string, true>(maxRemembered);
  return (topic, url) => {
    if (requested.has(url) || !isAllowed(topic.arn)) return;
    requested.set(url, true);
    fetchText(url, AbortSignal.timeout(confirmationTimeoutMs)).then(
      () => onResult(topic, true),
      () => {
        requested.delete(url);
        onResult(topic, false);
      },
    );
  };
}

interface MinuteLimit {
  readonly perKey: number;
  /** The limit of all keys together, which is also the number of keys that are remembered. */
  readonly total: number;
  readonly now: () => number;
}

const minuteMs = 60_000;

/** Creates a limit for this process: whether something may happen once more within a minute, for one key and for all keys together. */
function createMinuteLimit({ perKey, total, now }: MinuteLimit): (key: string) => boolean {
  let recent: { readonly key: string; readonly at: number }[] = [];
  return (key) => {
    const at = now();
    recent = recent.filter((one) => one.at > at - minuteMs);
    if (recent.length >= total || recent.filter((one) => one.key === key).length >= perKey) return false;
    recent.push({ key, at });
    return true;
  };
}
