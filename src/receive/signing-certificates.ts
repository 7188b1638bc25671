import { X509Certificate, type KeyObject } from 'node:crypto';
import { describeError } from '../core/errors.ts';
import { FetchRefused, ProofUnavailable, type FetchText } from './proof.ts';
import type { SnsTopic } from './sns-topic.ts';

/** The public key of the certificate with this file name; undefined when AWS has none that can be used. Rejects with ProofUnavailable. */
export type FindSigningKey = (topic: SnsTopic, fileName: string) => Promise<KeyObject | undefined>;

export interface SigningCertificatesOptions {
  readonly fetchText: FetchText;
  readonly now: () => Date;
  readonly onError: (error: Error) => void;
}

const timeoutMs = 5_000;
const keepMs = 24 * 3_600_000;
/** File names come from strangers: what was not there, and how often is asked at all, is bounded. */
const forgetFailureMs = 30_000;
const maxCertificates = 32;
const maxFetchesPerMinute = 12;
/** The certificates' own names: sns.amazonaws.com, and others with the region in them. */
const signerName = /^sns[a-z0-9.-]*\.amazonaws\.com(?:\.cn)?$/;

interface Entry {
  readonly until: number;
  readonly certificate: Promise<X509Certificate | undefined>;
}

/**
 * Signing certificates of SNS from the host of the topic's region, never from another. The file is a single certificate without its chain, as all SDKs
 * take it: it is trusted because TLS proves the host it comes from. Its own name and its validity are checked as well.
 */
export function createSigningCertificates({ fetchText, now, onError }: SigningCertificatesOptions): FindSigningKey {
  const entries = new Map<string, Entry>();
  let fetches: number[] = [];

  const load = async (url: string): Promise<X509Certificate | undefined> => {
    try {
      return new X509Certificate(await fetchText(url, AbortSignal.timeout(timeoutMs)));
    } catch (error) {
      onError(new Error(`getting the signing certificate ${url}: ${describeError(error)}`, { cause: error }));
      // 4xx: AWS has no such certificate. Anything else may pass.
      if (error instanceof FetchRefused && error.status < 500 && error.status !== 429) return undefined;
      throw new ProofUnavailable(`the signing certificate cannot be had`, { cause: error });
    }
  };
  const start = (url: string): Entry => {
    const at = now().getTime();
    fetches = fetches.filter((time) => time > at - 60_000);
    if (fetches.length >= maxFetchesPerMinute) throw new ProofUnavailable('too many signing certificates were asked for in this minute');
    fetches.push(at);
    const certificate = load(url);
    const keep = (ms: number) => {
      if (entries.get(url)?.certificate === certificate) entries.set(url, { until: now().getTime() + ms, certificate });
    };
    certificate.then(
      (found) => keep(found === undefined ? forgetFailureMs : keepMs),
      () => entries.delete(url),
    );
    return { until: at + timeoutMs, certificate };
  };

  return async ({ host }, fileName) => {
    const url = `https://${host}/${fileName}`;
    let entry = entries.get(url);
    if (entry === undefined || entry.until <= now().getTime()) {
      entry = start(url);
      entries.delete(url);
      entries.set(url, entry);
      for (const oldest of [...entries.keys()].slice(0, -maxCertificates)) entries.delete(oldest);
    }
    const certificate = await entry.certificate;
    return certificate !== undefined && isSigner(certificate, now()) ? certificate.publicKey : undefined;
  };
}

function isSigner(certificate: X509Certificate, now: Date): boolean {
  if (now < new Date(certificate.validFrom) || now > new Date(certificate.validTo)) return false;
  const alternatives = [...(certificate.subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].map(([, name = '']) => name);
  const names = alternatives.length > 0 ? alternatives : [/^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? ''];
  return certificate.publicKey.asymmetricKeyType === 'rsa' && names.some((name) => signerName.test(name));
}
