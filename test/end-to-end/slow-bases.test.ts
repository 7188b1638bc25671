/** A BaseImagePolicy whose registry does not answer must not keep the others waiting. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

const basePath = 'library/base-java';
let world: World;
let service: Service;
let silent: Server;
let silentHost = '';
let isSilent = false;
let ended = 0;
let begun = 0;

before(async () => {
  world = await startWorld();
  silent = createServer(({ url, method, headers }, response) => {
    if (!isSilent) {
      const forwarded = { host: world.registry.host, ...(headers.accept !== undefined && { accept: headers.accept }) };
      const options = { method, headers: forwarded };
      return void request(`http://${world.registry.host}${url}`, options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).end();
    }
    begun++;
    response.on('close', () => ended++);
  }).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  silentHost = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  service = await world.start({
    config: {
      receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
      registries: [world.registry.host, silentHost].map((host) => ({ host, insecure: true })),
    },
  });
  await announce(world.registry, service);
});
after(async () => {
  await world.stop();
  silent.closeAllConnections();
  silent.close();
});

const policies = () => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`;

async function create(name: string, host: string): Promise<void> {
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name },
    spec: { image: `${host}/${basePath}`, select: { digest: { tag: '21' } }, workloads: [{}], poll: { interval: '8h' } },
  });
}

async function isSelected(name: string): Promise<boolean> {
  const { status = {} } = (await world.cluster.request('GET', `${policies()}/${name}`)) as { status?: BaseStatus };
  return status.latest !== undefined && status.images !== undefined;
}

test('many jobs for a policy of a base whose registry does not answer leave workers to other policies', async () => {
  await buildImage({ host: world.registry.host, repository: basePath, tag: '21' }, { layers: 'os java1' });
  await create('slow', silentHost);
  await waitFor('the policy to be reconciled', () => isSelected('slow'));
  isSilent = true;
  // More jobs than there are workers: each value of the annotation is a cause of its own.
  for (let count = 0; count < 12; count++)
    await world.annotate(`${policies()}/slow`, { 'operator.technomad.dev/requested-at': `${count}` });
  await waitFor('the registry to be asked', () => Promise.resolve(begun > 0));
  await create('quick', world.registry.host);
  await waitFor('the other policy to be reconciled', () => isSelected('quick'));
  assert.deepEqual([begun, ended], [1, 0], 'the registry was asked once, and has not answered yet');
});
