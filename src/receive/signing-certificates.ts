import { X509Certificate, type KeyObject } from 'node:crypto';
import { BoundedMap } from '../async/bounded-map.ts';
import { SingleFlight } from '../async/single-flight.ts';
import { describeError } from '../model/errors.ts';
import { createAllowance } from './allowance.ts';
import { FetchRefused, ProofUnavailable, type FetchText } from './proof.ts';
import type { SnsTopic } from './sns-topic.ts';

/**
 * The public key of the certificate with this file name; undefined when AWS has none that can be used. `address` is whoever named it: a certificate that was
 * never had is asked for within that address' share. Rejects with ProofUnavailable.
 */
export type FindSigningKey = (topic: SnsTopic, fileName: string, address: string) => Promise<KeyObject | undefined>;

export interface SigningCertificatesOptions {
  readonly fetchText: FetchText;
  readonly now: () => Date;
  readonly onError: (error: Error) => void;
}

const timeoutMs = 5_000;
const keepMs = 24 * 3_600_000;
/** So much longer a certificate is good for while AWS cannot be asked. */
const spareMs = 24 * 3_600_000;
/** File names come from strangers: what was not there, and how often is asked at all, is bounded. What worked before is asked for apart from them. */
const pauseMs = 30_000;
const maxCertificates = 32;
const maxFetches = { perKey: 12, total: 60 };
/** The certificates' own names: sns.amazonaws.com, and others with the region in them. */
const signerName = /^sns[a-z0-9.-]*\.amazonaws\.com(?:\.cn)?$/;

interface Held {
  readonly certificate: X509Certificate;
  /** Of no use from then on. */
  readonly until: number;
  /** Not asked for before. */
  askAt: number;
}

/**
 * Signing certificates of SNS from the host of the topic's region, never from another. The file is a single certificate without its chain, as all SDKs
 * take it: it is trusted because TLS proves the host it comes from. Its own name and its validity are checked as well.
 */
export function createSigningCertificates({ fetchText, now, onError }: SigningCertificatesOptions): FindSigningKey {
  /** Apart from each other: however many names a stranger makes up, no certificate loses its place to one. */
  const good = new BoundedMap<string, Held>(maxCertificates);
  const missingUntil = new BoundedMap<string, number>(maxCertificates);
  const flights = new SingleFlight<X509Certificate | undefined>();
  /** Of each topic apart: whoever knows the name of one uses up nothing of another. There are as many as the configuration names. */
  const allowances = new Map<string, (address: string) => boolean>();

  const read = async (url: string): Promise<X509Certificate | undefined> => {
    try {
      return new X509Certificate(await fetchText(url, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      onError(new Error(`getting the signing certificate ${url}: ${describeError(error)}`, { cause: error }));
      // 4xx: AWS has no such certificate. Anything else may pass.
      if (error instanceof FetchRefused && error.status < 500 && error.status !== 429) return undefined;
      throw new ProofUnavailable(`the signing certificate cannot be had`, { cause: error });
    }
  };
  const load = async (url: string): Promise<X509Certificate | undefined> => {
    const certificate = await read(url);
    const at = now();
    if (certificate !== undefined && isSigner(certificate, at)) {
      const askAt = at.getTime() + keepMs;
      good.set(url, { certificate, until: askAt + spareMs, askAt });
      return certificate;
    }
    good.delete(url);
    missingUntil.set(url, at.getTime() + pauseMs);
    return undefined;
  };
  /** Takes the turn of a fetch, or throws. */
  const takeTurn = (held: Held | undefined, { arn }: SnsTopic, address: string): void => {
    const at = now().getTime();
    if (held !== undefined) {
      if (at < held.askAt) throw new ProofUnavailable('the signing certificate could not be had a moment ago');
      held.askAt = at + pauseMs;
      return;
    }
    const isAllowed = allowances.get(arn) ?? createAllowance({ ...maxFetches, now: () => now().getTime() });
    allowances.set(arn, isAllowed);
    if (!isAllowed(address)) throw new ProofUnavailable('too many signing certificates were asked for in this minute');
  };
  /** One request for all who wait. */
  const ask = (url: string, topic: SnsTopic, address: string): Promise<X509Certificate | undefined> =>
    flights.run(url, () => {
      takeTurn(good.get(url), topic, address);
      return load(url);
    });
  const find = async (url: string, topic: SnsTopic, address: string): Promise<X509Certificate | undefined> => {
    const at = now().getTime();
    const held = good.get(url);
    if (held === undefined) return at < (missingUntil.get(url) ?? 0) ? undefined : ask(url, topic, address);
    const isUsable = at < held.until;
    if (isUsable && at < held.askAt) return held.certificate;
    try {
      return await ask(url, topic, address);
    } catch (error) {
      if (!isUsable) throw error;
      return held.certificate;
    }
  };

  return async (topic, fileName, address) => {
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
