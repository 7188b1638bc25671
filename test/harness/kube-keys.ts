// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** The files that a control plane needs, and what its clients need. */
export type KubeKeys = {
  caPem: string;
  token: string;
  files: {
    ca: string;
    serverCertificate: string;
    serverKey: string;
    serviceAccountKey: string;
    serviceAccountPublicKey: string;
    tokens: string;
  };
};

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Makes a certificate authority, a serving certificate for 127.0.0.1, a key for service-account tokens and one administrator's token, in `dir`. */
export async function makeKubeKeys(dir: string): Promise<KubeKeys> {
  const write = (name: string, content: string) => {
    const path = join(dir, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const { caPem, serverPem, serverKeyPem } = await makeCertificates();
  const serviceAccount = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const token = randomBytes(16).toString('hex');
  return {
    caPem,
    token,
    files: {
      ca: write('ca.crt', caPem),
      serverCertificate: write('server.crt', serverPem),
      serverKey: write('server.key', serverKeyPem),
      serviceAccountKey: write('service-account.key', serviceAccount.privateKey.export({ type: 'sec1', format: 'pem' }) as string),
      serviceAccountPublicKey: write('service-account.pub', serviceAccount.publicKey.export({ type: 'spki', format: 'pem' }) as string),
      tokens: write('tokens.csv', `${token},admin,admin,"system:masters"\n`),
    },
  };
}

async function makeCertificates(): Promise<{ caPem: string; serverPem: string; serverKeyPem: string }> {
  const validity = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 30 * 86_400_000) };
  const caKeys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const serverKeys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=image-watcher-test-ca',
    keys: caKeys,
    signingAlgorithm: ecdsa,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  const server = await X509CertificateGenerator.create({
    ...validity,
    subject: 'CN=kube-apiserver',
    issuer: ca.subject,
    publicKey: serverKeys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ecdsa,
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '10.0.0.1' },
        { type: 'dns', value: 'localhost' },
        { type: 'dns', value: 'kubernetes.default.svc' },
      ]),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    ],
  });
  const serverKey = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', serverKeys.privateKey)).toString('base64');
  return {
    caPem: ca.toString('pem'),
    serverPem: server.toString('pem'),
    serverKeyPem: `-----BEGIN PRIVATE KEY-----\n${serverKey}\n-----END PRIVATE KEY-----\n`,
  };
}
