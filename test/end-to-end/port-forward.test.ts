/** Commands reach the API through a real API server, which leads them to a pod; a kubelet that only forwards ports stands for the node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../cli/run-command.ts';
import { createServicePod, startFakeKubelet, type FakeKubelet } from '../harness/fake-kubelet.ts';
import { kubeconfigWithGrants } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a command without --server', () => {
  let world: World;
  let service: Service;
  let kubelet: FakeKubelet;
  let namespace: string;
  let spies: string;
  before(async () => {
    world = await startWorld();
    service = await world.start();
    [namespace, spies] = await Promise.all([world.cluster.namespace('image-watcher'), world.cluster.namespace('spies')]);
    kubelet = await startFakeKubelet(world.cluster, 'only-ports');
    await deliver(service, harborBody(world.quiet.host, 'shop/web', [{ tag: '1.0.0' }]));
  });
  after(async () => {
    await kubelet.stop();
    await world.stop();
  });

  const operationsPort = () => Number(new URL(service.operationsUrl).port);
  const podPath = (where: string, name = '') => `/api/v1/namespaces/${where}/pods/${name}`.replace(/\/$/, '');
  const createPod = (where: string, name: string, port: number, isReady = true) =>
    createServicePod(world.cluster, kubelet.node, { namespace: where, name, port, isReady });
  const removePod = (where: string, name: string) => world.cluster.request('DELETE', `${podPath(where, name)}?gracePeriodSeconds=0`);
  const run = (name: string, args: readonly string[] = [], kubeconfig = world.cluster.kubeconfigPath) =>
    runCommand(name, [...args, '--service-namespace', namespace, '--kubeconfig', kubeconfig]);

  it('says that there is no pod, and how to find it', async () => {
    const { code, err } = await run('events');
    assert.equal(code, 1);
    assert.match(err, new RegExp(`^no pod of image-watcher with the role work is in the namespace ${namespace}: .*--service-namespace`));
  });

  it('never connects to a pod of another namespace, whatever its labels are', async () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    await createPod(spies, 'phisher', (listener.address() as AddressInfo).port);
    assert.match((await run('events')).err, /^no pod of image-watcher/);
    assert.deepEqual([connections, kubelet.requests], [0, []]);
    listener.close();
  });

  it('says that no pod is ready', async () => {
    await createPod(namespace, 'starting', operationsPort(), false);
    const { code, err } = await run('events');
    assert.equal(code, 1);
    assert.match(
      err,
      /is ready: starting is Running \(containers with unready status: \[image-watcher\]\): see kubectl -n \S+ describe pod starting/,
    );
    await removePod(namespace, 'starting');
  });

  it('lists and replays pushes through the API server, with the token of the kubeconfig', async () => {
    await createPod(namespace, 'work', operationsPort());
    const found = await waitFor('the push', async () => {
      const { code, out, err } = await run('events', ['-o', 'json']);
      assert.equal(code, 0, err);
      return (JSON.parse(out) as { id: string; tag: string }[]).find(({ tag }) => tag === '1.0.0');
    });
    assert.ok(
      kubelet.requests.every((url) => url === `/portForward/${namespace}/work?port=${operationsPort()}`),
      kubelet.requests.join(),
    );
    assert.match((await run('events', [found.id])).out, /1\.0\.0/);
    assert.match((await run('replay', [found.id])).out, /^replayed as /);
    const { out } = await run('doctor');
    assert.match(out, /✓ service\/api +the service answers/);
  });

  it('reads answers of many pages over as many connections', async () => {
    const tags = Array.from({ length: 300 }, (_, index) => ({ tag: `2.0.${index}` }));
    for (let start = 0; start < tags.length; start += 50)
      await deliver(service, harborBody(world.quiet.host, 'shop/many', tags.slice(start, start + 50)));
    await waitFor('all pushes', async () => {
      const { out, err, code } = await run('events', ['--repository', `${world.quiet.host}/shop/many`, '--limit', '500', '-o', 'json']);
      assert.equal(code, 0, err);
      return (JSON.parse(out) as unknown[]).length === tags.length;
    });
  });

  it('names the right that the caller lacks', async () => {
    const account = { name: 'lister', namespace };
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
    const kubeconfig = await kubeconfigWithGrants(world.cluster, account, [{ namespace, rules }]);
    const { code, err } = await run('events', [], kubeconfig);
    assert.equal(code, 1);
    assert.match(
      err,
      /^you may not connect to pod \S+\/work: ask an administrator for "get" and "create" on pods\/portforward in the namespace/,
    );
    const stranger = await kubeconfigWithGrants(world.cluster, { name: 'stranger', namespace }, [
      { namespace, rules: [{ apiGroups: [''], resources: ['services'], verbs: ['list'] }] },
    ]);
    assert.match((await run('events', [], stranger)).err, /may not list pods in the namespace/);
  });

  it('reports the message of the node if nothing listens on the port', async () => {
    await removePod(namespace, 'work');
    await createPod(namespace, 'deaf', 1);
    const { code, err } = await run('events');
    assert.equal(code, 1);
    assert.match(err, /^pod \S+\/deaf cannot be reached through the API server: an error occurred forwarding 1: connect ECONNREFUSED/);
    await removePod(namespace, 'deaf');
  });

  it('sends no token to a server with http unless --insecure allows that', async () => {
    const received: string[] = [];
    const listener = createServer((socket) => socket.on('data', (data: Buffer) => received.push(data.toString('utf8')))).listen(
      0,
      '127.0.0.1',
    );
    await once(listener, 'listening');
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    for (const name of ['events', 'doctor']) {
      const { out, err, code } = await run(name, ['--server', url]);
      assert.equal(code, 1);
      assert.match(out + err, /with http, whoever\s+listens/);
    }
    assert.match((await run('replay', ['x', '--server', url])).err, /with http, whoever listens/);
    assert.deepEqual(received, []);
    listener.close();
    const { code } = await run('events', ['--server', service.operationsUrl, '--insecure']);
    assert.equal(code, 0);
  });
});
