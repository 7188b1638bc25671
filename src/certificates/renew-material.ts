import { X509Certificate } from 'node:crypto';
import { namesOf, splitBundle, type Material, type Renewal, type Wanted } from './judge-material.ts';
import { backdateMs, servingLifeMs } from './lives.ts';
import { issueCertificate, makeAuthority } from './make-certificate.ts';
import type { ServingPair } from './serving-pair.ts';

/** Makes what `renewal` asks for and keeps the rest; what the former authorities signed stays trusted until it cannot be in use any more. */
export async function renewMaterial(material: Material | undefined, renewal: Renewal, wanted: Wanted): Promise<Material> {
  const present = material ?? { authorities: '', authorityKey: '', certificate: '', key: '' };
  const [newest = '', ...former] = splitBundle(present.authorities);
  const authority = renewal.authority === undefined ? { certificate: newest, key: present.authorityKey } : await makeAuthority(wanted.now);
  const trusted = renewal.authority === undefined ? former : [newest, ...former];
  const pair = renewal.certificate === undefined ? present : await issueCertificate(authority, namesFor(present, wanted), wanted.now);
  return {
    authorities: [authority.certificate, ...trusted.filter((pem) => isStillNeeded(pem, authority, wanted.now))].join(''),
    authorityKey: authority.key,
    certificate: pair.certificate,
    key: pair.key,
  };
}

/**
 * Replicas with another configuration may want other names, as in a rolling upgrade: while the certificate is young its names are kept, so that they do
 * not renew it against each other for ever.
 */
function namesFor({ certificate }: Material, { names, now }: Wanted): readonly string[] {
  const [present] = splitBundle(certificate);
  if (present === undefined) return names;
  const leaf = new X509Certificate(present);
  const isYoung = now.getTime() - leaf.validFromDate.getTime() < servingLifeMs / 2;
  return isYoung ? [...new Set([...names, ...namesOf(leaf)])] : names;
}

/** Certificates of a former authority end, at the latest, when its successor is as old as they can become. */
function isStillNeeded(pem: string, successor: ServingPair, now: Date): boolean {
  if (pem === '' || new X509Certificate(pem).validToDate <= now) return false;
  return now.getTime() - new X509Certificate(successor.certificate).validFromDate.getTime() < servingLifeMs + 2 * backdateMs;
}
