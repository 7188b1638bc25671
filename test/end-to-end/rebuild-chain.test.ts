/** A chain of bases whose images a CI system builds, with the real controllers: the framework is rebuilt on a new Java first, and then its application on that framework. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { runPods } from './base-fleet.ts';
import { announce, startWorld, type World } from './world.ts';

let world: World;
let kubelet: ReturnType<typeof runPods>;
/** The sources in the order of their requests, each with what it was built on. */
const built: string[] = [];
let java = 'java1';
/** The layers of the newest framework: what an application is built on at that time. */
let framework = '';

const push = (repository: string, tag: string, layers: string) =>
  buildImage(
    { host: world.registry.host, repository, tag },
    {
      layers,
      platforms: ['linux/amd64'],
      labels: () => ({ 'org.opencontainers.image.source': `https://git.example.com/${repository}` }),
    },
  );
const pushFramework = (tag: string) => push('library/framework', tag, (framework = `os ${java} framework`));
const pushWeb = (tag: string) => push('shop/web', tag, `${framework} web`);

/** Builds what it is asked to. The image comes back by its own push. */
const ci = createServer((request, response) => {
  void text(request).then(async (body) => {
    const { subject } = JSON.parse(body) as { subject: string };
    const name = subject.split('/').at(-1) ?? '';
    if (name === 'framework') await pushFramework(`3.1.${built.length + 1}`);
    else await pushWeb(`1.0.${built.length + 1}`);
    built.push(`${name} on ${name === 'framework' ? java : framework}`);
    return response.writeHead(202).end();
  });
});

const policies = (name = '') =>
  `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');
const waitForStatus = (name: string, what: string, isReached: (status: BaseStatus) => boolean | undefined) =>
  waitFor(`${name}: ${what}`, async () => {
    const { status = {} } = (await world.cluster.request('GET', policies(name))) as { status?: BaseStatus };
    if (isReached(status)) return status;
    throw new Error(JSON.stringify(status, null, 1));
  });

before(async () => {
  ci.listen(0, '127.0.0.1');
  await once(ci, 'listening');
  const origin = `http://127.0.0.1:${(ci.address() as AddressInfo).port}`;
  world = await startWorld({ controllers: true });
  kubelet = runPods(world.cluster, world.namespace);
  const config = {
    receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
    registries: [{ host: world.registry.host, insecure: true }],
    triggers: { hosts: [origin] },
  };
  await announce(world.registry, await world.start({ config }));
  const secret = { metadata: { name: 'ci' }, stringData: { key: 'k' } };
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, secret);
  await push('library/java', '21', `os ${java}`);
  await pushFramework('3.1.0');
  await pushWeb('1.0.0');
  await world.createDeployment('web', `${world.registry.host}/shop/web:1.0.0`);
  await world.createPolicy('web', `${world.registry.host}/shop/web`, { strategy: 'SemVer' });
  const trigger = { images: ['*'], webhook: { url: `${origin}/hook`, secretRef: { name: 'ci', key: 'key' } } };
  for (const [name, select] of [
    ['java', { digest: { tag: '21' } }],
    ['framework', { semver: {} }],
  ] as const)
    await world.cluster.request('POST', policies(), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name },
      spec: {
        image: `${world.registry.host}/library/${name}`,
        select,
        workloads: [{ kinds: ['Deployment'] }],
        onNewBase: [{ trigger }],
        poll: { interval: '8h' },
      },
    });
});
after(async () => {
  await kubelet?.stop();
  await world.stop();
  ci.closeAllConnections();
  ci.close();
});

test('the framework is rebuilt on a new Java, and then its application on the rebuilt framework, each once', async () => {
  for (const name of ['java', 'framework']) await waitForStatus(name, 'the application is current', ({ images }) => images?.current === 1);
  for (const next of ['java2', 'java3']) {
    java = next;
    const { digest } = await push('library/java', '21', `os ${java}`);
    const isDone = ({ images, conditions = [] }: BaseStatus) =>
      images?.current === 1 && images.behind === 0 && conditions.find(({ type }) => type === 'Ready')?.status === 'True';
    await waitForStatus('java', `the application is on ${java}`, (status) => status.latest?.digest === digest && isDone(status));
    await waitForStatus('framework', 'the application is on the rebuilt framework', isDone);
  }
  assert.deepEqual(built, ['framework on java2', 'web on os java2 framework', 'framework on java3', 'web on os java3 framework']);
  await world.waitForImage('web', `${world.registry.host}/shop/web:1.0.4`);
});
