// oxlint-disable-next-line import/no-unassigned-import -- the certificate library needs this polyfill to be loaded before it
import 'reflect-metadata';
import { randomUUID, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { X509CertificateGenerator } from '@peculiar/x509';
import { SignJWT } from 'jose';
import { tempFolder } from './temp-folder.ts';

/** A token server of the distribution specification, whose tokens a real registry believes: who knows the password may pull and push everything, nobody else anything. */
export type TokenServer = {
  /** What the registry needs to know of it. */
  readonly auth: { realm: string; service: string; issuer: string; rootcertbundle: string };
  /** Every request that came in, with its query. */
  readonly requests: string[];
  /** Refuses everybody while it is true, as one that is starting. */
  isRefusing: boolean;
  /** A token for somebody who does not ask. */
  issue(repository: string, actions: string[]): Promise<string>;
  stop(): Promise<void>;
};

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const service = 'test-registry';
const issuer = 'test-issuer';

/** Starts it on a free loopback port. */
export async function startTokenServer({ user, password }: { user: string; password: string }): Promise<TokenServer> {
  const keys = await webcrypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=image-watcher-test-tokens',
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 86_400_000),
    keys,
    signingAlgorithm: ecdsa,
  });
  const rootcertbundle = join(tempFolder('token-server'), 'root.pem');
  writeFileSync(rootcertbundle, certificate.toString('pem'));

  const sign = (access: readonly { name: string; actions: string[] }[]) =>
    new SignJWT({ access: access.map((one) => ({ type: 'repository', ...one })) })
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', x5c: [Buffer.from(certificate.rawData).toString('base64')] })
      .setIssuer(issuer)
      .setSubject(user)
      .setAudience(service)
      .setJti(randomUUID())
      .setIssuedAt()
      .setNotBefore('-1m')
      .setExpirationTime('5m')
      .sign(keys.privateKey);
  const issue = (name: string, actions: string[]) => sign([{ name, actions }]);

  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    requests.push(url);
    if (tokens.isRefusing || headers.authorization !== expected) return void response.writeHead(401).end();
    const scopes = new URL(url, 'http://token').searchParams.getAll('scope').map((scope) => scope.split(':'));
    const access = scopes.map(([, name = '', actions = 'pull']) => ({ name, actions: actions.split(',') }));
    sign(access).then(
      (token) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token, expires_in: 300 })),
      (error: Error) => response.destroy(error),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const realm = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const tokens: TokenServer = {
    isRefusing: false,
    auth: { realm, service, issuer, rootcertbundle },
    requests,
    issue,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return tokens;
}
