/** Rebuilds that are requested from a CI system which fails for a while, while workers are killed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

const sources = 12;
const key = 'a-signing-key-of-the-platform-team';
const basePath = 'library/base-java';

/** A CI system that fails in all ways before it accepts, and runs each id once. */
function startCi() {
  const tries = new Map<string, number>();
  const accepted = new Map<string, number>();
  const forged: string[] = [];
  const subjects = new Map<string, string>();
  const state = { isDown: false };
  const server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      const id = String(request.headers['webhook-id']);
      const signed = createHmac('sha256', key)
        .update(`${id}.${String(request.headers['webhook-timestamp'])}.${body}`)
        .digest('base64');
      if (request.headers['webhook-signature'] !== `v1,${signed}`) forged.push(id);
      const { subject } = JSON.parse(body) as { subject: string };
      subjects.set(id, subject);
      const count = (tries.get(id) ?? 0) + 1;
      tries.set(id, count);
      if (state.isDown || count === 1) return response.writeHead(503).end('the controller restarts');
      if (count === 2) return request.socket.destroy();
      accepted.set(id, (accepted.get(id) ?? 0) + 1);
      return response.writeHead(202).end();
    });
  });
  return { server, tries, accepted, forged, subjects, state };
}

let world: World;
let service: Service;
let url = '';
const ci = startCi();

before(async () => {
  ci.server.listen(0, '127.0.0.1');
  await once(ci.server, 'listening');
  const origin = `127.0.0.1:${(ci.server.address() as AddressInfo).port}`;
  url = `http://${origin}/hooks/rebuild`;
  world = await startWorld();
  service = await world.start({ config: configOf([`http://${origin}`]) });
  await announce(world.registry, service);
  const { cluster, namespace } = world;
  await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'ci' },
    stringData: { key: `${key}\n` },
  });
});
after(async () => {
  await world.stop();
  ci.server.closeAllConnections();
  ci.server.close();
});

/** The configuration of the world, with CI systems. */
function configOf(hosts: readonly string[]) {
  return {
    receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
    registries: [{ host: world.registry.host, insecure: true, concurrency: 64 }],
    triggers: { hosts },
  };
}

const pushBase = (content: string) =>
  buildImage({ host: world.registry.host, repository: basePath, tag: '21' }, { layers: `os ${content}`, platforms: ['linux/amd64'] });
const pushApp = (name: string, base: string, source: string) =>
  buildImage(
    { host: world.registry.host, repository: `shop/${name}`, tag: '1.0.0' },
    { layers: `os ${base} ${name}`, platforms: ['linux/amd64'], labels: () => ({ 'org.opencontainers.image.source': source }) },
  );
const policies = (name = '') =>
  `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');

async function readStatus(): Promise<BaseStatus> {
  return ((await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus }).status ?? {};
}

test('each rebuild is requested once in effect, although the CI system fails and workers are killed', async () => {
  await pushBase('java1');
  for (let index = 0; index < sources; index++) {
    await pushApp(`app${index}`, 'java1', `https://git.example.com/shop/app${index}`);
    await world.createDeployment(`app${index}`, `${world.registry.host}/shop/app${index}:1.0.0`);
  }
  // A second image of the first source.
  await pushApp('worker', 'java1', 'https://git.example.com/shop/app0');
  await world.createDeployment('worker', `${world.registry.host}/shop/worker:1.0.0`);
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: {
      image: `${world.registry.host}/${basePath}`,
      select: { digest: { tag: '21' } },
      workloads: [{}],
      onNewBase: [{ trigger: { images: ['*'], webhook: { url, secretRef: { name: 'ci', key: 'key' } } } }],
      waves: { maxParallel: 100 },
      poll: { interval: '8h' },
    },
  });
  await waitFor('all images to be current', async () => (await readStatus()).images?.current === sources + 1);
  assert.equal(ci.tries.size, 0, 'nothing is behind yet');

  await pushBase('java2');
  for (let kills = 0; kills < 5; kills++) {
    const before = [...ci.tries.values()].reduce((sum, count) => sum + count, 0);
    await waitFor(
      'more requests',
      () => Promise.resolve([...ci.tries.values()].reduce((sum, count) => sum + count, 0) > before || ci.accepted.size === sources),
      {
        intervalMs: 5,
      },
    );
    await service.kill9();
    await service.restart();
  }
  await waitFor('all rebuilds to be accepted', () => Promise.resolve(ci.accepted.size === sources));
  const status = await waitFor('the status to say so', async () => {
    const found = await readStatus();
    return found.requests?.length === sources && found.requests.every(({ state }) => state === 'Requested') && found;
  });
  assert.deepEqual(
    [...ci.subjects.values()].toSorted(),
    Array.from({ length: sources }, (_, index) => `https://git.example.com/shop/app${index}`).toSorted(),
    'one id for each source',
  );
  assert.deepEqual(ci.forged, []);
  assert.equal(status.images?.behind, sources + 1);
  assert.ok(status.dependents?.every(({ state, action }) => state === 'Requested' && action === 'trigger'));
  assert.equal(status.history?.[0]?.requested, sources);

  // What is rebuilt comes back under its tag, and nothing more is requested.
  const tries = [...ci.tries.values()].reduce((sum, count) => sum + count, 0);
  await pushApp('app1', 'java2', 'https://git.example.com/shop/app1');
  await world.annotate(policies('java'), { 'operator.technomad.dev/requested-at': 'now' });
  await waitFor('the rebuilt image to be current', async () => (await readStatus()).images?.current === 1);
  assert.equal(
    [...ci.tries.values()].reduce((sum, count) => sum + count, 0),
    tries,
  );
});

test('a CI system on a host that the configuration does not name is not called, and the status says what to do', async () => {
  const other = ci.tries.size;
  await service.stop();
  await service.restart();
  const patch = {
    spec: {
      onNewBase: [
        { trigger: { images: ['*'], webhook: { url: url.replace('127.0.0.1', 'localhost'), secretRef: { name: 'ci', key: 'key' } } } },
      ],
    },
  };
  await world.cluster.request('PATCH', policies('java'), patch, 'application/merge-patch+json');
  await pushBase('java3');
  const found = await waitFor('the request to be pending', async () => {
    const { dependents = [] } = await readStatus();
    return dependents.find(({ reason, message }) => reason === 'RebuildPending' && message !== undefined);
  });
  assert.match(found.message ?? '', /the configuration does not allow requests to http:\/\/localhost:\d+: add it to triggers\.hosts/);
  assert.equal(ci.tries.size, other);
});
