import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { createStatusWriter } from '../../../src/service/cluster/write-policy-status.ts';
import { openKubeClient, type KubeClient } from '../../../src/service/kube/client.ts';
import { createObjectStore } from '../../../src/service/kube/object-store.ts';
import type { ImagePolicy } from '../../../src/core/model/image-policy.ts';
import type { HistoryEntry, PolicyStatus } from '../../../src/core/model/policy-status.ts';
import { readStatus } from '../../../src/core/model/stored-status.ts';
import { installCrd, policiesPath } from '../resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { readContext } from '../../harness/resource-group.ts';

const { signal } = new AbortController();

describe('the status writer', () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  let namespace: string;
  before(async () => {
    cluster = await borrowControlPlane();
    await installCrd(cluster, ['v1']);
    client = await openKubeClient({ kubeconfig: cluster.kubeconfigPath, requestTimeoutMs: 60_000 });
    namespace = await cluster.namespace();
  });
  after(async () => {
    await client?.close();
    await cluster?.stop();
  });

  const pathOf = (name: string) => `${policiesPath(namespace, 'v1')}/${name}`;
  const readStored = async (name: string) => (await cluster.request<{ status: Record<string, unknown> }>('GET', pathOf(name))).status;

  /** A policy, what writes its status, and the requests that were sent; `hold` is awaited before each of them. */
  async function startWriter(name: string, status: object = {}, hold: () => Promise<void> = () => Promise.resolve()) {
    const spec = { image: 'harbor.example.com/shop/web', select: { semver: {} }, targets: [{ kind: 'Deployment', name }] };
    await cluster.request('POST', policiesPath(namespace, 'v1'), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'ImagePolicy',
      metadata: { name },
      spec,
    });
    const raw = await cluster.request('PATCH', `${pathOf(name)}/status`, { status }, 'application/merge-patch+json');
    const written = createObjectStore<ImagePolicy>();
    const policy = readPolicy(raw, readContext);
    written.put(policy);
    const notices: [before: string | undefined, after: string | undefined, eventId: string | undefined][] = [];
    const patches: unknown[] = [];
    const write = createStatusWriter({
      client: {
        ...client,
        request: async (options) => {
          patches.push(options.body);
          await hold();
          return client.request(options);
        },
      },
      cache: { policies: written, written },
      notices: {
        onPolicyStatus: (_policy, before, after, eventId) => {
          notices.push([before.running, after.running, eventId]);
          return Promise.resolve();
        },
      },
      readContext,
    });
    return { policy, write, patches, notices, cached: () => written.get(namespace, name) };
  }

  const applied = (tag: string) => (status: PolicyStatus) => ({ ...status, lastAppliedTag: tag, running: `${status.running ?? ''}${tag}` });

  it('owns the status as one value, which costs the API server less than owning its fields', async () => {
    const { policy, write } = await startWriter('owned');
    await write(policy, applied('1'), signal);
    const { metadata } = await cluster.request<{ metadata: { managedFields: { manager: string; fieldsV1: object }[] } }>(
      'GET',
      pathOf('owned'),
    );
    const own = metadata.managedFields.filter(({ manager }) => manager === 'image-watcher');
    assert.deepEqual(
      own.map(({ fieldsV1 }) => fieldsV1),
      [{ 'f:status': {} }],
    );
  });

  it('combines simultaneous updates in one write, each on top of the others', async () => {
    const { policy, write, patches, notices } = await startWriter('together');
    await Promise.all(['1', '2', '3'].map((tag) => write(policy, applied(tag), signal, `event-${tag}`)));
    assert.equal(patches.length, 1);
    assert.deepEqual(notices, [
      [undefined, '1', 'event-1'],
      ['1', '12', 'event-2'],
      ['12', '123', 'event-3'],
    ]);
    assert.deepEqual(await readStored('together'), { lastAppliedTag: '3', running: '123' });
    await write(policy, () => undefined, signal);
    assert.equal(patches.length, 1);
  });

  it('compares an update with the policy that was read, if that is newer than the watch', async () => {
    const { policy, write } = await startWriter('behind', { running: '1' });
    const raw = await cluster.request('PATCH', `${pathOf('behind')}/status`, { status: { running: '2' } }, 'application/merge-patch+json');
    await write(readPolicy(raw, readContext), (status) => (status.running === '1' ? undefined : { ...status, running: '1' }), signal);
    assert.deepEqual([policy.status.running, await readStored('behind')], ['1', { running: '1' }]);
  });

  it('writes all updates that wait for another write in one request, without a conflict', async () => {
    const first = Promise.withResolvers<void>();
    const { policy, write, patches } = await startWriter('waiting', {}, () => first.promise);
    const writes = [write(policy, applied('1'), signal)];
    while (patches.length === 0) await new Promise(setImmediate);
    for (const tag of ['2', '3', '4']) writes.push(write(policy, applied(tag), signal));
    first.resolve();
    await Promise.all(writes);
    assert.equal(patches.length, 2);
    assert.deepEqual(await readStored('waiting'), { lastAppliedTag: '4', running: '1234' });
  });

  it('lets one caller give up without failing the others of the same write', async () => {
    const first = Promise.withResolvers<void>();
    const { policy, write, patches } = await startWriter('impatient', {}, () => first.promise);
    const ann = new AbortController();
    const writes = [write(policy, applied('1'), ann.signal), write(policy, applied('2'), signal)];
    while (patches.length === 0) await new Promise(setImmediate);
    ann.abort(new Error('stopped'));
    await assert.rejects(writes[0] as Promise<void>, /stopped/);
    first.resolve();
    await writes[1];
    assert.equal((await readStored('impatient'))['lastAppliedTag'], '2');
  });

  it('fails only the caller whose update is refused or throws', async () => {
    const { policy, write } = await startWriter('innocent');
    const refused = (status: PolicyStatus) => ({ ...status, running: 'x'.repeat(200) });
    const broken = () => {
      throw new Error('broken');
    };
    const results = await Promise.allSettled([refused, applied('2'), broken, applied('3')].map((update) => write(policy, update, signal)));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal((await readStored('innocent'))['running'], '23');
  });

  it('does not write an update that was given up before its turn', async () => {
    const first = Promise.withResolvers<void>();
    const { policy, write, notices } = await startWriter('stopped', {}, () => first.promise);
    const ann = new AbortController();
    const writing = write(policy, applied('1'), signal);
    const waiting = write(policy, applied('2'), ann.signal);
    ann.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
    first.resolve();
    await writing;
    assert.deepEqual(notices, [[undefined, '1', undefined]]);
  });

  it('caches what the API server has stored, even if it drops fields', async () => {
    const { policy, write, cached } = await startWriter('cached', {
      history: Array.from({ length: 5 }, (_, index) => change(`1.0.${index}`)),
    });
    const asStored = async () => readPolicy(await cluster.request('GET', pathOf('cached')), readContext, policy);
    await write(policy, applied('1'), signal);
    assert.equal(cached()?.status.running, '1');
    assert.deepEqual(cached(), await asStored());
    await write(policy, (status) => ({ ...applied('2')(status), ofANewerVersion: true }), signal);
    assert.deepEqual(cached(), await asStored());
  });

  it('caches the spec that somebody else writes at the same time', async () => {
    const { policy, write, cached } = await startWriter('contended');
    await cluster.request('PATCH', pathOf('contended'), { spec: { suspend: true } }, 'application/merge-patch+json');
    // Another replica has already written what this one wants to write.
    await cluster.request('PATCH', `${pathOf('contended')}/status`, { status: { running: '1' } }, 'application/merge-patch+json');
    await write(policy, (status) => (status.running === '1' ? undefined : { ...status, running: '1' }), signal);
    assert.deepEqual(cached(), readPolicy(await cluster.request('GET', pathOf('contended')), readContext));
    assert.equal(cached()?.generation, policy.generation + 1);
  });

  it('writes the whole history where an earlier version had stored it in the first field', async () => {
    const history = Array.from({ length: 10 }, (_, index) => change(`1.0.${9 - index}`));
    const { policy, write } = await startWriter('upgraded', { history });
    await write(
      policy,
      ({ history: [last, ...rest] = [], ...status }) => ({ ...status, history: last ? [{ ...last, result: 'RolledOut' }, ...rest] : [] }),
      signal,
    );
    const stored = await readStored('upgraded');
    assert.deepEqual(
      [stored['history'], stored['earlierChanges']].map((list) => (list as unknown[]).length),
      [3, 7],
    );
    assert.deepEqual(readStatus(stored).history, [{ ...history[0], result: 'RolledOut' }, ...history.slice(1)]);
  });
});

function change(tag: string): HistoryEntry {
  const image = `harbor.example.com/shop/web:${tag}`;
  return {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: 'web',
    to: image,
    tag,
    trigger: 'Webhook',
    at: '2026-03-01T12:00:00Z',
    result: 'Applied',
  };
}
