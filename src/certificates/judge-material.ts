import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { describeError } from '../model/errors.ts';
import { backdateMs, settlingMs } from './lives.ts';

/** What the replicas share, all PEM: the authorities to be trusted, the newest first, the key of that one, and the listener's certificate and key. */
export interface Material {
  readonly authorities: string;
  readonly authorityKey: string;
  readonly certificate: string;
  readonly key: string;
}

/** What is wanted of it, and when. */
export interface Wanted {
  /** DNS names and addresses under which the listener is called. */
  readonly names: readonly string[];
  readonly now: Date;
}

/** What has to be made anew, each with the reason; neither: the material is good as it is. */
export interface Renewal {
  readonly authority?: string;
  readonly certificate?: string;
}

/**
 * Decides what has to be renewed: what is missing, broken or wrong at once, what is only old when two thirds of its life are over. A new authority signs
 * nothing in its first hour while the present certificate still serves, which one of the former authorities vouches for: there is no moment at which a
 * client that knows the older bundle is shown something that it cannot trust.
 */
export function judgeMaterial(material: Material | undefined, { names, now }: Wanted): Renewal {
  if (material === undefined) return { authority: 'there is none', certificate: 'there is none' };
  const authority = judgeAuthority(material, now);
  const certificate = judgeCertificate(material, names, now);
  const settles = authority !== undefined || isSettling(material, now);
  const due = certificate?.waits === true && settles ? undefined : certificate?.why;
  return { ...(authority !== undefined && { authority }), ...(due !== undefined && { certificate: due }) };
}

/** The certificates of a bundle, one PEM each; what is not one is left out. */
export function splitBundle(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.filter((block) => read(() => new X509Certificate(block)) instanceof X509Certificate).map((block) => `${block}\n`);
}

/** The names in a certificate. */
export function namesOf(certificate: X509Certificate): readonly string[] {
  return (certificate.subjectAltName ?? '')
    .split(', ')
    .map((entry) => entry.replace(/^(?:DNS|IP Address):/, ''))
    .filter((name) => name !== '');
}

function judgeAuthority({ authorities, authorityKey }: Material, now: Date): string | undefined {
  const [newest] = splitBundle(authorities);
  if (newest === undefined) return 'there is none';
  const certificate = new X509Certificate(newest);
  const key = read(() => createPrivateKey(authorityKey));
  if (key instanceof Error) return `its key cannot be read: ${describeError(key)}`;
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'its key is not EC P-256';
  if (!certificate.checkPrivateKey(key)) return 'its key does not belong to it';
  if (!certificate.ca) return 'it is not an authority';
  if (now < certificate.validFromDate) return 'it is not valid yet';
  return isOld(certificate, now) ? 'two thirds of its life are over' : undefined;
}

function judgeCertificate({ authorities, certificate, key }: Material, names: readonly string[], now: Date) {
  const leaf = read(() => new X509Certificate(certificate));
  if (leaf instanceof Error) return { why: certificate === '' ? 'there is none' : `it cannot be read: ${describeError(leaf)}` };
  const ownKey = read(() => createPrivateKey(key));
  if (ownKey instanceof Error) return { why: `its key cannot be read: ${describeError(ownKey)}` };
  if (!leaf.checkPrivateKey(ownKey)) return { why: 'its key does not belong to it' };
  const issuer = splitBundle(authorities)
    .map((pem) => new X509Certificate(pem))
    .find((candidate) => leaf.checkIssued(candidate) && leaf.verify(candidate.publicKey));
  if (issuer === undefined || issuer.validToDate <= now) return { why: 'no authority of the bundle vouches for it' };
  const missing = names.filter((name) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) === undefined);
  if (missing.length > 0) return { why: `it lacks the names ${missing.join(', ')}` };
  if (now < leaf.validFromDate) return { why: 'it is not valid yet' };
  return isOld(leaf, now) ? { why: 'two thirds of its life are over', waits: now < leaf.validToDate } : undefined;
}

/** The oldest authority has nobody to wait for. */
function isSettling({ authorities }: Material, now: Date): boolean {
  const [newest, ...former] = splitBundle(authorities);
  if (newest === undefined || former.length === 0) return false;
  return now.getTime() - new X509Certificate(newest).validFromDate.getTime() < backdateMs + settlingMs;
}

function isOld({ validFromDate, validToDate }: X509Certificate, now: Date): boolean {
  const life = validToDate.getTime() - validFromDate.getTime();
  return now.getTime() - validFromDate.getTime() >= (life * 2) / 3;
}

function read<T>(parse: () => T): T | Error {
  try {
    return parse();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
