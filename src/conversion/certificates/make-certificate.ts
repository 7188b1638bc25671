/** Makes certificates, all with EC P-256 keys. Imported where one is made: the library takes a tenth of the processor time of a start. */
// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { authorityLifeMs, backdateMs, servingLifeMs } from './lifetimes.ts';
import type { ServingPair } from './serving-pair.ts';

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate authority, valid for ten years. */
export async function makeAuthority(now: Date): Promise<ServingPair> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(now, authorityLifeMs),
    name: 'CN=image-watcher conversion authority',
    keys,
    signingAlgorithm: ecdsa,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: toPem(certificate), key: await keyToPem(keys) };
}

/** A certificate for a listener with these names (DNS names and addresses), issued by the authority, valid for 90 days. */
export async function issueCertificate(authority: ServingPair, names: readonly string[], now: Date): Promise<ServingPair> {
  const issuer = new X509Certificate(authority.certificate);
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.create({
    ...validity(now, servingLifeMs),
    subject: 'CN=image-watcher conversion',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: await readSigningKey(authority.key),
    signingAlgorithm: ecdsa,
    extensions: [...servingExtensions(names), await AuthorityKeyIdentifierExtension.create(issuer)],
  });
  return { certificate: toPem(certificate), key: await keyToPem(keys) };
}

/** A self-signed certificate, for a listener that must start before there is a real one. */
export async function makeProvisional(names: readonly string[], now: Date): Promise<ServingPair> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(now, servingLifeMs),
    name: 'CN=image-watcher conversion (provisional)',
    keys,
    signingAlgorithm: ecdsa,
    extensions: servingExtensions(names),
  });
  return { certificate: toPem(certificate), key: await keyToPem(keys) };
}

/** The PEM text with a line end, so that bundles are concatenations. */
function toPem(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
}

function validity(now: Date, lifeMs: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - backdateMs), notAfter: new Date(now.getTime() + lifeMs) };
}

function servingExtensions(names: readonly string[]) {
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
    new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    new SubjectAlternativeNameExtension(names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))),
  ];
}

function readSigningKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', new Uint8Array(der), ecdsa, false, ['sign']);
}

async function keyToPem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' }) as string;
}
