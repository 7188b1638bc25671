/** The program in a network whose only way out is a forward proxy, which is also the only one that knows the names outside. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { startForwardProxy, type ForwardProxy } from '../harness/forward-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { createAuthority } from '../harness/server-certificate.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { makeSigner, notification } from '../service/receive/keys.ts';
import { examine } from './doctor-report.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const host = 'registry.example.com:5000';
const user = { user: 'image-watcher', password: 'p@ss-of-the-proxy' };
const publicUrl = 'http://localhost:9090';

let world: World;
let service: Service;
let proxy: ForwardProxy;
const servers: Server[] = [];
/** What arrived behind the proxy: `chat.example.com:8080/hook`. */
const arrived: string[] = [];

const portOf = async (server: Server): Promise<number> => {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const outside: RequestListener = (request: IncomingMessage, response) => {
  void text(request).then(() => {
    const { headers, url } = request;
    arrived.push(`${headers.host}${url}`);
    if (url !== '/.well-known/openid-configuration') return response.writeHead(200).end('{"keys":[]}');
    const issuer = `https://${headers.host}`;
    return response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` }));
  });
};

before(async () => {
  const authority = await createAuthority('outside');
  const caFile = join(tempFolder('proxies'), 'ca.crt');
  writeFileSync(caFile, authority.ca);
  const names = ['issuer.example.com', 'sns.eu-west-1.amazonaws.com', 'sso.example.com'];
  const pair = await authority.issue(names.map((value) => ({ type: 'dns', value })));
  const [secure, plain] = await Promise.all([portOf(createTlsServer(pair, outside)), portOf(createServer(outside))]);
  world = await startWorld();
  proxy = await startForwardProxy({
    ...user,
    hosts: {
      ...Object.fromEntries(names.map((name) => [`${name}:443`, secure])),
      'chat.example.com:8080': plain,
      'ci.example.com:8080': plain,
      [host]: Number(world.quiet.host.split(':')[1]),
    },
  });
  const url = proxy.url.replace('//', `//${user.user}:${encodeURIComponent(user.password)}@`);
  service = await world.start({
    env: {
      WEBHOOK_SECRET: 'end-to-end-secret',
      CLIENT_SECRET: 'the secret of the client',
      CHAT_URL: 'http://chat.example.com:8080/s3cret-of-the-chat',
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      NO_PROXY: '.direct.example.com, 10.0.0.0/8',
      NODE_EXTRA_CA_CERTS: caFile,
    },
    config: {
      receivers: [
        { name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] },
        ...['issuer.example.com', 'issuer.direct.example.com'].map((issuer, index) => ({
          name: `ci-${index}`,
          provider: 'generic',
          oidc: { issuer: `https://${issuer}`, jwksUri: `https://${issuer}/keys`, audience: 'hooks', claims: { project: 'shop' } },
        })),
        { name: 'ecr', provider: 'ecr', sns: { topics: [notification['TopicArn']] } },
      ],
      registries: [{ host, insecure: true }],
      notifications: { targets: [{ name: 'chat', kind: 'slack', url: { env: 'CHAT_URL' }, insecure: true, events: ['Updated'] }] },
      triggers: { hosts: ['http://ci.example.com:8080'] },
      dashboard: {
        publicUrl,
        oidc: { issuer: 'https://sso.example.com', clientId: 'image-watcher', clientSecret: { env: 'CLIENT_SECRET' } },
      },
    },
  });
});
after(async () => {
  await world?.stop();
  await proxy?.stop();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const sees = (line: string) => waitFor(`${line} at the proxy`, () => Promise.resolve(proxy.targets().some((one) => one.startsWith(line))));
const arrives = (address: string) => waitFor(`${address} to arrive`, () => Promise.resolve(arrived.includes(address)));

describe('behind a proxy', () => {
  test('a push is found in its registry, applied and reported to a chat', async () => {
    const push = (tag: string) => pushImage({ host: world.quiet.host, repository: 'shop/web', tag, content: tag });
    await push('1.0.0');
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.waitForFirstLook('web');
    const { digest } = await push('1.1.0');
    await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0', digest }]));
    await world.waitForImage('web', `${host}/shop/web:1.1.0`);
    await sees(`GET http://${host}/v2/shop/web/manifests/1.1.0`);
    await sees('POST http://chat.example.com:8080/');
    await arrives('chat.example.com:8080/s3cret-of-the-chat');
  });

  test('rebuilds are requested from CI systems', async () => {
    const { cluster, namespace, quiet } = world;
    const build = (repository: string, tag: string, layers: string) =>
      buildImage(
        { host: quiet.host, repository, tag },
        { layers, platforms: ['linux/amd64'], labels: () => ({ 'org.opencontainers.image.source': 'https://git.example.com/shop/app' }) },
      );
    await build('library/base-java', '21', 'os java1');
    await build('shop/app', '1.0.0', 'os java1 app');
    await world.createDeployment('app', `${host}/shop/app:1.0.0`);
    await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'ci' },
      stringData: { key: 'a-signing-key-of-the-team' },
    });
    const path = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;
    await cluster.request('POST', path, {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name: 'java' },
      spec: {
        image: `${host}/library/base-java`,
        select: { digest: { tag: '21' } },
        workloads: [{}],
        onNewBase: [
          { trigger: { images: ['*'], webhook: { url: 'http://ci.example.com:8080/rebuild', secretRef: { name: 'ci', key: 'key' } } } },
        ],
        poll: { interval: '8h' },
      },
    });
    const current = async () => (await cluster.request<{ status?: BaseStatus }>('GET', `${path}/java`)).status?.images?.current === 1;
    await waitFor('the image to be current', current);
    const { digest } = await build('library/base-java', '21', 'os java2');
    await deliver(service, harborBody(host, 'library/base-java', [{ tag: '21', digest }]));
    await sees('POST http://ci.example.com:8080/rebuild');
    await arrives('ci.example.com:8080/rebuild');
  });

  test('keys of issuers are fetched before they are needed, and those of a host in NO_PROXY directly', async () => {
    await sees('CONNECT issuer.example.com:443');
    await arrives('issuer.example.com/keys');
    await waitFor('the other issuer to be tried', () =>
      Promise.resolve(
        /fetching the keys of https:\/\/issuer\.direct\.example\.com\/keys: DNS (?:does not know|did not answer)/.test(
          service.logTail(10_000),
        ),
      ),
    );
    assert.ok(!proxy.requests.some(({ line }) => line.includes('direct.example.com')));
  });

  test('the certificate of a message of SNS is fetched', async () => {
    const signer = await makeSigner();
    const { status } = await fetch(`${service.publicUrl}/webhooks/ecr`, {
      method: 'POST',
      body: JSON.stringify(signer.signed(notification)),
    });
    assert.notEqual(status, 202);
    await sees('CONNECT sns.eu-west-1.amazonaws.com:443');
    await arrives(new URL(notification['SigningCertURL'] ?? '').href.replace('https://', ''));
  });

  test('the sign-in finds the identity provider', async () => {
    const answer = await fetch(`${service.operationsUrl}/sign-in/oidc`, { redirect: 'manual', headers: { host: 'localhost:9090' } });
    assert.match(answer.headers.get('location') ?? '', /^https:\/\/sso\.example\.com\/auth\?/);
    await sees('CONNECT sso.example.com:443');
  });

  test('the doctor says which proxy applies to which host', async () => {
    const { findings } = await examine(service, world.cluster.kubeconfigPath);
    const routes = findings.filter(({ line }) => line === 'proxies/route').map(({ message }) => message);
    assert.deepEqual(routes, [
      `through the proxy ${proxy.url} (HTTP_PROXY): ${host}, ci.example.com:8080 (rebuilds)`,
      `through the proxy ${proxy.url} (HTTPS_PROXY): issuer.example.com (keys of receivers), sns.eu-west-1.amazonaws.com (certificates of SNS), sso.example.com (sign-in)`,
      'directly (NO_PROXY has .direct.example.com): issuer.direct.example.com (keys of receivers)',
    ]);
  });

  test('neither the cluster nor Redis nor this machine is reached through it, and nothing shows its password', async () => {
    assert.deepEqual(
      proxy.requests.filter(({ line }) => /127\.0\.0\.1|localhost/.test(line)),
      [],
    );
    assert.ok(
      proxy.requests.every(
        ({ authorization }) => authorization === `Basic ${Buffer.from(`${user.user}:${user.password}`).toString('base64')}`,
      ),
    );
    proxy.fault = () => 407;
    const { digest } = await pushImage({ host: world.quiet.host, repository: 'shop/web', tag: '1.2.0', content: '1.2.0' });
    await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.2.0', digest }]));
    await waitFor('the failure to be logged', () => Promise.resolve(/Proxy Authentication Required \(407\)/.test(service.logTail(10_000))));
    const shown = service.logTail(10_000) + JSON.stringify(await world.listPolicies());
    assert.doesNotMatch(shown, /p@ss-of-the-proxy|p%40ss-of-the-proxy|aW1hZ2Utd2F0Y2hlcj/);
  });
});
