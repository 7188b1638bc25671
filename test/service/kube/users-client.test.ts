/** A client that acts for callers of the API must never act with the credentials of the service, or a caller could do what the service may. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { makeProvisional } from '../../../src/conversion/certificates/make-certificate.ts';
import { openKubeClient } from '../../../src/service/kube/client.ts';
import { isKubeError } from '../../../src/service/kube/kube-error.ts';
import { writeKubeconfig } from './fake-api-server.ts';

interface Seen {
  readonly authorization: string | undefined;
  readonly hasCertificate: boolean;
}

/** A server that asks for client certificates, and a kubeconfig with a token and a certificate. */
async function start(t: TestContext, status = 200): Promise<{ kubeconfig: string; seen: Seen[] }> {
  const pair = await makeProvisional(['localhost'], new Date());
  const seen: Seen[] = [];
  const server: Server = createServer(
    { cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate() as { subject?: object };
      seen.push({ authorization: request.headers.authorization, hasCertificate: subject !== undefined });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user = { token: 'of-the-service', 'client-certificate-data': base64(pair.certificate), 'client-key-data': base64(pair.key) };
  return { kubeconfig: writeKubeconfig(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, user), seen };
}

const request = { method: 'GET', path: '/api/v1/namespaces' } as const;

test('a client for users sends the credentials of each request, and none of its own', async (t) => {
  const { kubeconfig, seen } = await start(t);
  const [own, users] = await Promise.all([openKubeClient({ kubeconfig }), openKubeClient({ kubeconfig, kind: 'users' })]);
  await own.request(request);
  await users.request({ ...request, authorization: 'Bearer of-ann' });
  await users.request({ ...request, authorization: 'Bearer of-bob' });
  await users.request(request);
  await Promise.all([own.close(), users.close()]);
  assert.deepEqual(seen, [
    { authorization: 'Bearer of-the-service', hasCertificate: true },
    { authorization: 'Bearer of-ann', hasCertificate: false },
    { authorization: 'Bearer of-bob', hasCertificate: false },
    { authorization: undefined, hasCertificate: false },
  ]);
});

test('a request of a user that was refused is not retried, least of all with other credentials', async (t) => {
  const { kubeconfig, seen } = await start(t, 401);
  const users = await openKubeClient({ kubeconfig, kind: 'users' });
  await assert.rejects(users.request({ ...request, authorization: 'Bearer of-ann' }), (error) => isKubeError(error, 401));
  await users.close();
  assert.deepEqual(seen, [{ authorization: 'Bearer of-ann', hasCertificate: false }]);
});
