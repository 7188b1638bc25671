/** The authority and certificate of the conversion listener, which the replicas share. Decides when they are renewed, and renews them. */
import { splitBundle } from '../../core/model/certificate-bundle.ts';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { defined } from '../../core/model/defined.ts';
import { describeError } from '../../core/model/errors.ts';
import { backdateMs, propagationMs, servingLifeMs } from './lifetimes.ts';
import type { ServingPair } from './serving-pair.ts';

/** The certificates and keys, all in PEM: the trusted authorities, the newest first; the key of the newest; the certificate of the listener and its key. */
export interface Material {
  readonly authorities: string;
  readonly authorityKey: string;
  readonly certificate: string;
  readonly key: string;
}

/** What the material must be valid for. */
export interface Requirements {
  /** DNS names and addresses of the listener. */
  readonly names: readonly string[];
  readonly now: Date;
}

/** The parts to renew, each with the reason; empty if the material is valid. */
export interface Renewal {
  readonly authority?: string;
  readonly certificate?: string;
}

/**
 * Decides what to renew: anything missing or invalid immediately, anything else when two thirds of its lifetime have passed. In its first hour, a new authority
 * signs nothing as long as the current certificate of a former authority is valid. So no client with the older bundle gets a certificate that it cannot trust.
 */
export function neededRenewal(material: Material | undefined, { names, now }: Requirements): Renewal {
  if (material === undefined) return { authority: 'there is none', certificate: 'there is none' };
  const authority = renewAuthorityBecause(material, now);
  const certificate = renewCertificateBecause(material, names, now);
  const isPropagating = authority !== undefined || isNewAuthorityPropagating(material, now);
  const due = certificate?.waits === true && isPropagating ? undefined : certificate?.why;
  return { ...defined({ authority, certificate: due }) };
}

/** The names in a certificate. */
export function namesOf(certificate: X509Certificate): readonly string[] {
  return (certificate.subjectAltName ?? '')
    .split(', ')
    .map((entry) => entry.replace(/^(?:DNS|IP Address):/, ''))
    .filter((name) => name !== '');
}

function renewAuthorityBecause({ authorities, authorityKey }: Material, now: Date): string | undefined {
  const [newest] = splitBundle(authorities);
  if (newest === undefined) return 'there is none';
  const certificate = new X509Certificate(newest);
  const key = read(() => createPrivateKey(authorityKey));
  if (key instanceof Error) return `its key cannot be read: ${describeError(key)}`;
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'its key is not EC P-256';
  if (!certificate.checkPrivateKey(key)) return 'its key does not belong to it';
  if (!certificate.ca) return 'it is not an authority';
  if (now < certificate.validFromDate) return 'it is not valid yet';
  return isOld(certificate, now) ? 'two thirds of its lifetime have passed' : undefined;
}

function renewCertificateBecause({ authorities, certificate, key }: Material, names: readonly string[], now: Date) {
  const leaf = read(() => new X509Certificate(certificate));
  if (leaf instanceof Error) return { why: certificate === '' ? 'there is none' : `it cannot be read: ${describeError(leaf)}` };
  const ownKey = read(() => createPrivateKey(key));
  if (ownKey instanceof Error) return { why: `its key cannot be read: ${describeError(ownKey)}` };
  if (!leaf.checkPrivateKey(ownKey)) return { why: 'its key does not belong to it' };
  const issuer = splitBundle(authorities)
    .map((pem) => new X509Certificate(pem))
    .find((candidate) => leaf.checkIssued(candidate) && leaf.verify(candidate.publicKey));
  if (issuer === undefined || issuer.validToDate <= now) return { why: 'no valid authority of the bundle issued it' };
  const missing = names.filter((name) => (isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name)) === undefined);
  if (missing.length > 0) return { why: `it does not have the names ${missing.join(', ')}` };
  if (now < leaf.validFromDate) return { why: 'it is not valid yet' };
  return isOld(leaf, now) ? { why: 'two thirds of its lifetime have passed', waits: now < leaf.validToDate } : undefined;
}

/** Whether a new authority is still being distributed. The first authority is used immediately, because no client trusts another one. */
function isNewAuthorityPropagating({ authorities }: Material, now: Date): boolean {
  const [newest, ...former] = splitBundle(authorities);
  if (newest === undefined || former.length === 0) return false;
  return now.getTime() - new X509Certificate(newest).validFromDate.getTime() < backdateMs + propagationMs;
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

/** Renews the parts in `renewal` and keeps the rest. Former authorities stay trusted as long as certificates that they issued may be in use. */
export async function renewMaterial(material: Material | undefined, renewal: Renewal, requirements: Requirements): Promise<Material> {
  const { issueCertificate, makeAuthority } = await import('./make-certificate.ts');
  const present = material ?? { authorities: '', authorityKey: '', certificate: '', key: '' };
  const [newest = '', ...former] = splitBundle(present.authorities);
  const authority =
    renewal.authority === undefined ? { certificate: newest, key: present.authorityKey } : await makeAuthority(requirements.now);
  const trusted = renewal.authority === undefined ? former : [newest, ...former];
  const pair =
    renewal.certificate === undefined ? present : await issueCertificate(authority, namesFor(present, requirements), requirements.now);
  return {
    authorities: [authority.certificate, ...trusted.filter((pem) => isStillNeeded(pem, authority, requirements.now))].join(''),
    authorityKey: authority.key,
    certificate: pair.certificate,
    key: pair.key,
  };
}

/**
 * The names for a new certificate. Replicas with different configurations, as in a rolling upgrade, may require different names. The names of a new certificate
 * are kept, so that the replicas do not replace it in turns for ever.
 */
function namesFor({ certificate }: Material, { names, now }: Requirements): readonly string[] {
  const [present] = splitBundle(certificate);
  if (present === undefined) return names;
  const leaf = new X509Certificate(present);
  const isNew = now.getTime() - leaf.validFromDate.getTime() < servingLifeMs / 2;
  return isNew ? [...new Set([...names, ...namesOf(leaf)])] : names;
}

/** Whether a former authority must stay trusted. Its last certificate expires one lifetime after its successor was created. */
function isStillNeeded(pem: string, successor: ServingPair, now: Date): boolean {
  if (pem === '' || new X509Certificate(pem).validToDate <= now) return false;
  return now.getTime() - new X509Certificate(successor.certificate).validFromDate.getTime() < servingLifeMs + 2 * backdateMs;
}
