// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
  type GeneralNameType,
} from '@peculiar/x509';

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const hourMs = 3_600_000;

/** An authority for tests: its own certificate, and certificates for servers, all in PEM. */
export interface TestAuthority {
  readonly ca: string;
  /** `names`: what the certificate is valid for; `endsInMs`: negative for one that has expired; `beginsInMs`: positive for one that is not valid yet. */
  issue(
    names: readonly { type: GeneralNameType; value: string }[],
    endsInMs?: number,
    beginsInMs?: number,
  ): Promise<{ cert: string; key: string }>;
}

/** The address that test servers listen on. */
export const loopback = [{ type: 'ip', value: '127.0.0.1' }] as const;

export async function createAuthority(commonName: string): Promise<TestAuthority> {
  const keys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const validity = { notBefore: new Date(Date.now() - 48 * hourMs), notAfter: new Date(Date.now() + 48 * hourMs) };
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    ...validity,
    keys,
    signingAlgorithm: ecdsa,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    ca: authority.toString('pem'),
    async issue(names, endsInMs = 24 * hourMs, beginsInMs = -48 * hourMs) {
      const own = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
      const certificate = await X509CertificateGenerator.create({
        subject: 'CN=server',
        issuer: authority.subject,
        notBefore: new Date(Date.now() + beginsInMs),
        notAfter: new Date(Date.now() + endsInMs),
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ecdsa,
        extensions: [new SubjectAlternativeNameExtension([...names])],
      });
      const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', own.privateKey), 'PRIVATE KEY');
      return { cert: certificate.toString('pem'), key };
    },
  };
}
