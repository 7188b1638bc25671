/** Where kinds are, asked of a real API server: how many requests that takes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { createDiscovery, discoveryFreshMs } from '../../../src/service/kube/discovery.ts';
import { rediscoveryPauseMs } from '../../../src/service/cluster/kind-watch.ts';
import { type ControlPlane, borrowControlPlane } from '../../harness/control-plane.ts';
import { installKind, known, removeKind, type CustomKind } from './targets/custom-definition.ts';

const machine: CustomKind = { group: 'example.com', version: 'v1', kind: 'Machine', plural: 'machinery' };

describe('discovery', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  let requests: string[] = [];
  let time = 0;
  before(async () => {
    cluster = await borrowControlPlane();
    const real = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
    client = {
      ...real,
      request(request) {
        requests.push(request.path);
        return real.request(request);
      },
    };
    await installKind(cluster, known.rollout);
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const start = () => {
    requests = [];
    return createDiscovery(client, [], () => time);
  };
  const forgetDiscovery = () => (time += discoveryFreshMs);
  const reasonOf = async (find: Promise<unknown>) =>
    find.then(
      () => 'found',
      (error: { reason?: string; message: string }) => error.reason ?? error.message,
    );

  it('requests all kinds of a group version once, and never one that is not served', async () => {
    const discovery = start();
    const invented = Array.from({ length: 500 }, (_, index) => ({ apiVersion: `group-${index}.example.net/v1`, kind: 'Nothing' }));
    const misspelt = Array.from({ length: 500 }, (_, index) => ({ apiVersion: 'argoproj.io/v1alpha1', kind: `Rollout${index}` }));
    const odd = ['argoproj.io/v1/../x', 'argoproj.io/__proto__'].map((apiVersion) => ({ apiVersion, kind: 'Rollout' }));
    const reasons = await Promise.all([...invented, ...misspelt, ...odd].map((kind) => reasonOf(discovery.find(kind))));
    assert.deepEqual([...new Set(reasons)], ['TargetKindUnknown']);
    // Groups without a dot have built-in kinds only, which are not asked for.
    for (const apiVersion of ['/v1', 'constructor/v1'])
      assert.equal(await reasonOf(discovery.find({ apiVersion, kind: 'Rollout' })), 'UnsupportedTargetKind');
    const found = await discovery.find({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' });
    assert.equal(found.resource, 'rollouts');
    assert.deepEqual(requests.toSorted(), ['/apis', '/apis/argoproj.io/v1alpha1']);
  });

  it('notices an installed or removed kind when its knowledge is old', async () => {
    const discovery = start();
    const find = () => reasonOf(discovery.find({ apiVersion: 'example.com/v1', kind: 'Machine' }));
    assert.equal(await find(), 'TargetKindUnknown');
    await installKind(cluster, machine);
    assert.equal(await find(), 'TargetKindUnknown');
    forgetDiscovery();
    assert.equal(await find(), 'found');
    await removeKind(cluster, machine);
    assert.equal(await find(), 'found');
    assert.deepEqual(requests, ['/apis', '/apis', '/apis/example.com/v1']);
  });

  it('does not cache a failure for long, and gives up when cancelled', async () => {
    const broken: KubeClient = { ...client, request: () => Promise.reject(new Error('spoiled')) };
    let isBroken = true;
    const faulty: KubeClient = { ...client, request: (request) => (isBroken ? broken : client).request(request) };
    const discovery = createDiscovery(faulty, [], () => time);
    const find = () => reasonOf(discovery.find({ apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }));
    assert.equal(await find(), 'spoiled');
    isBroken = false;
    time += 1_000;
    assert.equal(await find(), 'found');
    const hanging = createDiscovery({ ...client, request: () => new Promise(() => undefined) }, [], () => time);
    const stopping = new AbortController();
    const finding = reasonOf(hanging.find({ apiVersion: 'a.b/v1', kind: 'C' }, stopping.signal));
    stopping.abort(new Error('stopped'));
    assert.equal(await finding, 'stopped');
  });
});

it('requests unknown kinds less and less often, all at the same moments, and never while the last answer is fresh', () => {
  const start = 1_234_567;
  const pauses = Array.from({ length: 9 }, (_, attempt) => rediscoveryPauseMs(attempt, start));
  for (const [attempt, pause] of pauses.entries()) {
    const period = Math.min(320_000, 10_000 * 2 ** attempt);
    assert.ok(pause >= discoveryFreshMs && pause < period + discoveryFreshMs, `${attempt}: ${pause}`);
    assert.equal((start + pause) % period, 0);
  }
  // A day of one kind, and of a thousand that began at other times: the moments are the same ones.
  const momentsOf = (begin: number) => {
    const moments: number[] = [];
    for (let [now, attempt] = [begin, 0]; now < 86_400_000; attempt++) moments.push((now += rediscoveryPauseMs(attempt, now)));
    return moments;
  };
  assert.ok(momentsOf(0).length < 280);
  const all = new Set(Array.from({ length: 1_000 }, (_, index) => momentsOf(index * 7)).flat());
  assert.ok(all.size < 290, `${all.size} moments`);
});
