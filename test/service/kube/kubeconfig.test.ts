import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { stringify } from 'yaml';
import { openKubeClient } from '../../../src/service/kube/client.ts';
import { loadKubeAccess } from '../../../src/service/kube/load-kube-access.ts';
import { type KubeKeys, makeKubeKeys } from '../../harness/kube-keys.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { writeKubeconfig } from './fake-api-server.ts';

async function startTlsServer(context: TestContext, keys: KubeKeys): Promise<string> {
  const options = { key: readFileSync(keys.files.serverKey), cert: readFileSync(keys.files.serverCertificate) };
  const server = createServer(options, (_, response) => response.end('{}'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a changed CA file is used without a restart, after at most ten seconds', async (context) => {
  const [right, wrong] = await Promise.all([makeKubeKeys(tempFolder('keys')), makeKubeKeys(tempFolder('keys'))]);
  const server = await startTlsServer(context, right);
  const caFile = join(tempFolder('ca'), 'ca.crt');
  writeFileSync(caFile, wrong.caPem);
  let now = 0;
  const client = await openKubeClient({
    kubeconfig: writeKubeconfig(server, { token: 'x' }, { 'certificate-authority': caFile }),
    now: () => now,
  });
  context.after(() => client.close());
  const get = () => client.request({ method: 'GET', path: '/' });
  await assert.rejects(get(), /GET \/: .*certificate/);
  writeFileSync(caFile, right.caPem);
  now += 9_000;
  await assert.rejects(get(), /certificate/);
  now += 2_000;
  assert.deepEqual(await get(), {});
});

test('several kubeconfigs are merged as kubectl does, and the first one chooses the context', async () => {
  const folder = tempFolder('kubeconfig');
  const write = (name: string, content: object) => {
    writeFileSync(join(folder, name), stringify(content));
    return join(folder, name);
  };
  const first = write('first', {
    'current-context': 'one',
    clusters: [{ name: 'one', cluster: { server: 'https://one/' } }],
    users: [{ name: 'one', user: { username: 'u', password: 'p' } }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
  });
  writeFileSync(join(folder, 'token'), 'relative\n');
  const second = write('second', {
    'current-context': 'two',
    clusters: [{ name: 'two', cluster: { server: 'https://two', 'tls-server-name': 'api' } }],
    users: [{ name: 'two', user: { tokenFile: 'token' } }],
    contexts: [{ name: 'two', context: { cluster: 'two', user: 'two' } }],
  });
  const kubeconfig = `${first}:${second}`;
  const basic = `Basic ${Buffer.from('u:p').toString('base64')}`;
  const [one, two] = await Promise.all([loadKubeAccess({ kubeconfig }), loadKubeAccess({ kubeconfig, context: 'two' })]);
  assert.deepEqual(await one.current(), { server: 'https://one', headers: { authorization: basic }, tls: {} });
  assert.deepEqual(await two.current(), {
    server: 'https://two',
    headers: { authorization: 'Bearer relative' },
    tls: { servername: 'api' },
  });
});

test('credentials that cannot be obtained cause a clear error, and are requested again', async () => {
  const tokenFile = join(tempFolder('token'), 'token');
  const access = await loadKubeAccess({ kubeconfig: writeKubeconfig('https://one', { tokenFile }) });
  await assert.rejects(access.current(), /getting the credentials for the API server failed/);
  writeFileSync(tokenFile, 'late');
  assert.equal((await access.current()).headers['authorization'], 'Bearer late');
});
