// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { ExtendedKeyUsage, ExtendedKeyUsageExtension, PemConverter, X509CertificateGenerator } from '@peculiar/x509';

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A certificate that a client may show, PEM, and its key; signed by itself, so that it is its own authority. */
export async function makeClientCertificate(commonName: string): Promise<{ cert: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${commonName}`,
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 86_400_000),
    keys,
    signingAlgorithm: ecdsa,
    extensions: [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
  });
  const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { cert: certificate.toString('pem'), key };
}
