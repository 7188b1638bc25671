import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createKubeClient } from '../../../src/service/kube/client.ts';
import { isInPod, openPodAccess } from '../../../src/service/kube/pod-access.ts';
import { makeKubeKeys } from '../../harness/kube-keys.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const address = { host: '10.0.0.1', port: '443' };

/** A folder as the kubelet fills it. */
function serviceAccount(files: Readonly<Record<string, string>> = { token: 'first\n', 'ca.crt': 'CA', namespace: 'shop\n' }): string {
  const folder = tempFolder('service-account');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('in a pod, the address, token, authority and namespace come from its environment and its files', async () => {
  const source = openPodAccess({ address, folder: serviceAccount() });
  assert.equal(source.namespace, 'shop');
  assert.deepEqual(await source.current(), {
    server: 'https://10.0.0.1:443',
    headers: { authorization: 'Bearer first' },
    tls: { ca: 'CA' },
  });
});

test('an IPv6 address of the API server is written in brackets', async () => {
  const { server } = await openPodAccess({ address: { ...address, host: 'fd00::1' }, folder: serviceAccount() }).current();
  assert.equal(server, 'https://[fd00::1]:443');
});

test('a pod without a namespace file has no namespace', () => {
  assert.equal(openPodAccess({ address, folder: serviceAccount({ token: 'x', 'ca.crt': 'CA' }) }).namespace, undefined);
});

test('a rotated token and a new authority are used after at most ten seconds, and at once after a refusal', async () => {
  const folder = serviceAccount();
  let now = 0;
  const source = openPodAccess({ address, folder, now: () => now });
  const tokenOf = async () => (await source.current()).headers['authorization'];
  const first = await source.current();
  writeFileSync(join(folder, 'token'), 'second');
  writeFileSync(join(folder, 'ca.crt'), 'other CA');
  now += 9_999;
  assert.equal(await tokenOf(), 'Bearer first');
  now += 1;
  assert.deepEqual(await source.current(), { ...first, headers: { authorization: 'Bearer second' }, tls: { ca: 'other CA' } });
  writeFileSync(join(folder, 'token'), 'third');
  source.forget(first);
  assert.equal(await tokenOf(), 'Bearer second', 'what was refused is not in use any more');
  source.forget(await source.current());
  assert.equal(await tokenOf(), 'Bearer third');
});

test('the error about access from a pod names what is missing', async () => {
  for (const [missing, pattern] of [
    [{ host: undefined, port: undefined }, /KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set/],
    [{ ...address, port: undefined }, /KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set/],
  ] as const)
    assert.throws(() => openPodAccess({ address: missing, folder: serviceAccount() }), pattern);
  assert.throws(
    () => openPodAccess({ address, folder: tempFolder('empty') }),
    /the pod has no service account token .*automountServiceAccountToken/,
  );
  const noAuthority = openPodAccess({ address, folder: serviceAccount({ token: 'x' }) });
  await assert.rejects(noAuthority.current(), /the service account of the pod cannot be read: .*ca\.crt/);
  const folder = serviceAccount({ token: '', 'ca.crt': 'CA' });
  const late = openPodAccess({ address, folder });
  await assert.rejects(late.current(), /token is empty/);
  writeFileSync(join(folder, 'token'), 'late');
  assert.equal((await late.current()).headers['authorization'], 'Bearer late', 'it is read again at once');
  rmSync(join(folder, 'token'));
});

test('a process counts as in a pod if it has the address of the API server or a token', () => {
  assert.deepEqual(
    [
      { address, folder: tempFolder('empty') },
      { address: { host: undefined, port: undefined }, folder: serviceAccount() },
      { address: { host: undefined, port: undefined }, folder: tempFolder('empty') },
    ].map(isInPod),
    [true, true, false],
  );
});

test('an API server is reached with the authority and the token of the files', async (t) => {
  const keys = await makeKubeKeys(tempFolder('keys'));
  const seen: (string | undefined)[] = [];
  const options = { key: readFileSync(keys.files.serverKey), cert: readFileSync(keys.files.serverCertificate) };
  const server = createServer(options, (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(request.headers.authorization === 'Bearer second' ? 200 : 401).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = serviceAccount({ token: 'first', 'ca.crt': keys.caPem });
  const { port } = server.address() as AddressInfo;
  const client = createKubeClient(openPodAccess({ address: { host: '127.0.0.1', port: String(port) }, folder }));
  t.after(async () => {
    await client.close();
    server.close();
    server.closeAllConnections();
  });
  await assert.rejects(client.request({ method: 'GET', path: '/' }), /401/);
  writeFileSync(join(folder, 'token'), 'second');
  assert.deepEqual(await client.request({ method: 'GET', path: '/' }), {});
  assert.deepEqual(new Set(seen), new Set(['Bearer first', 'Bearer second']));
});

test('a process in a pod does not load client-node, and one with a kubeconfig does', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    let isLoaded = false;
    registerHooks({ load(url, context, next) { isLoaded ||= url.includes('/@kubernetes/client-node/'); return next(url, context); } });
    const { loadKubeAccess } = await import(${JSON.stringify(new URL('../../../src/service/kube/load-kube-access.ts', import.meta.url).href)});
    await loadKubeAccess(JSON.parse(process.argv[1])).catch((error) => error);
    console.log(isLoaded);`;
  const run = async (options: object) => {
    const args = ['--input-type=module', '--eval', script, JSON.stringify(options)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { HOME: tempFolder('home') } });
    return stdout.trim();
  };
  assert.deepEqual(await Promise.all([run({ pod: address }), run({ pod: address, kubeconfig: '/does/not/exist' })]), ['false', 'true']);
});
