import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { fieldManager } from '../../../src/core/model/last-update.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../../../src/core/model/workload.ts';
import { createRestarter, createRestartListener, type RestartPorts } from '../../../src/service/reconcile/restart-configured.ts';
import { workloadOf } from '../../core/model/samples.ts';

const repository = 'quay.io/shop/bundle';

function mapWith(tag: string, at: string): Workload {
  const update = { policy: 'uid', at, trigger: 'Webhook', from: `${repository}:1`, to: `${repository}:${tag}` } as const;
  return workloadOf(
    {},
    {
      kind: 'ConfigMap',
      name: 'images',
      restarts: [{ kind: 'Deployment', name: 'gateway' }],
      fields: { 'data.key': { value: tag, owner: fieldManager, setAt: at } },
      fieldUpdates: new Map([['data.key', update]]),
    },
  );
}

/** A restarter whose restarts are remembered as the API server would, and whose pauses pass at once by its own clock. */
function start(configMap: Workload, restart: (changes: string[]) => 'restarted' | 'changed') {
  const objects = new Map([configMap, workloadOf({}, { name: 'gateway' })].map((one) => [workloadKey(one), one]));
  const seen = { now: 1_000_000, pauses: [] as number[], events: [] as string[], restarts: [] as string[] };
  const ports: RestartPorts = {
    cluster: { findWorkload: (ref: WorkloadRef) => objects.get(workloadKey(ref)), now: () => seen.now },
    restart(ref, { changes }) {
      const result = restart(changes.map(({ what }) => what));
      if (result === 'restarted') {
        seen.restarts.push(changes.map(({ what }) => what).join());
        const found = objects.get(workloadKey(ref)) ?? assert.fail();
        objects.set(workloadKey(ref), { ...found, restartedFor: Object.fromEntries(changes.map(({ key, what }) => [key, what])) });
      }
      return Promise.resolve(result);
    },
    report: {
      recordEvent: ({ regarding, message }) => void seen.events.push(`${regarding.kind}: ${message}`),
      logger: { info: () => undefined, warn: () => undefined } as unknown as RestartPorts['report']['logger'],
    },
  };
  const restarter = createRestarter(ports, (ms) => {
    seen.pauses.push(ms);
    seen.now += ms;
    return Promise.resolve();
  });
  const change = (next: Workload) => {
    objects.set(workloadKey(next), next);
    restarter.consider(next);
  };
  const gateway = workloadOf({}, { name: 'gateway' });
  return { seen, restarter, change, forget: () => void objects.set(workloadKey(gateway), gateway) };
}

describe('restarts for changes of a ConfigMap', () => {
  const first = mapWith('2', '2026-11-01T10:00:00.000Z');
  const what = `${repository}:2 2026-11-01T10:00:00.000Z`;

  it('happen once, however often the ConfigMap is compared', async () => {
    const { seen, restarter } = start(first, () => 'restarted');
    for (let times = 0; times < 5; times++) restarter.consider(first);
    await restarter.idle();
    restarter.consider(first);
    await restarter.idle();
    assert.deepEqual(seen.restarts, [what]);
  });

  it('are retried after a conflict and after a temporary error', async () => {
    const results = ['changed', new Error('busy'), 'restarted'] as const;
    let tries = 0;
    const { seen, restarter } = start(first, () => {
      const result = results[tries++];
      if (result instanceof Error) throw result;
      return result ?? 'restarted';
    });
    restarter.consider(first);
    await restarter.idle();
    assert.deepEqual([tries, seen.restarts, seen.events], [3, [what], []]);
  });

  it('that are refused are reported on the ConfigMap, and retried with the next comparison', async () => {
    let tries = 0;
    const { seen, restarter } = start(first, () => {
      if (tries++ > 0) return 'restarted';
      throw new PermanentError('PatchRejected', 'deployments is forbidden');
    });
    restarter.consider(first);
    await restarter.idle();
    assert.deepEqual(seen.events, ['ConfigMap: Deployment shop/gateway is not restarted: deployments is forbidden']);
    restarter.consider(first);
    await restarter.idle();
    assert.deepEqual(seen.restarts, [what]);
  });

  it('follow each other after a pause, however often somebody writes the ConfigMap', async () => {
    const { seen, restarter, change } = start(first, () => 'restarted');
    restarter.consider(first);
    await restarter.idle();
    for (let second = 1; second < 9; second++) change(mapWith('2', `2026-11-01T10:00:0${second}.000Z`));
    await restarter.idle();
    assert.deepEqual([seen.restarts.length, seen.pauses], [2, [5_000]]);
    assert.equal(seen.restarts[1], `${repository}:2 2026-11-01T10:00:08.000Z`);
  });

  it('are not repeated endlessly where something removes the record from the workload each time', async () => {
    const { seen, restarter, change, forget } = start(first, () => 'restarted');
    for (let times = 0; times < 3; times++) {
      restarter.consider(first);
      await restarter.idle();
      forget();
    }
    assert.deepEqual(seen.restarts, [what]);
    change(mapWith('3', '2026-11-01T11:00:00.000Z'));
    await restarter.idle();
    assert.equal(seen.restarts.length, 2);
  });

  it('do not happen where no workload is configured, and after the stop', async () => {
    const { restarts: _, ...unnamed } = first;
    const { seen, restarter } = start(unnamed, () => 'restarted');
    restarter.consider(unnamed);
    await restarter.stop();
    restarter.consider(first);
    await restarter.idle();
    assert.deepEqual(seen.restarts, []);
  });
});

describe('the listener for restarts', () => {
  const restarts = [{ kind: 'Deployment', name: 'gateway' }] as const;
  const named = ['a', 'b', 'gone'].map((name) => ({ namespace: 'shop', name, restarts }));
  const mapOf = (name: string) => workloadOf({}, { kind: 'ConfigMap', name, namespace: 'shop' });
  const known = new Map([mapOf('a'), mapOf('b')].map((one) => [workloadKey(one), one]));

  function listen() {
    const considered: string[] = [];
    const rolledOut: string[] = [];
    const restarter = { consider: (configMap: Workload) => void considered.push(configMap.name) };
    const cluster = { findWorkload: (ref: WorkloadRef) => known.get(workloadKey(ref)) };
    const listener = createRestartListener(named, cluster, restarter, ({ object }) => void rolledOut.push(object.name));
    return { listener, considered, rolledOut };
  }

  it('considers the ConfigMaps of a changed workload, and their rollouts', () => {
    const { listener, considered, rolledOut } = listen();
    listener.onWorkload({ type: 'updated', object: workloadOf({}, { name: 'gateway', namespace: 'shop' }) });
    assert.deepEqual(
      [considered, rolledOut],
      [
        ['gateway', 'a', 'b'],
        ['a', 'b'],
      ],
    );
  });

  it('considers a changed ConfigMap, and nothing for a deleted object', () => {
    const { listener, considered, rolledOut } = listen();
    listener.onWorkload({ type: 'added', object: mapOf('a') });
    listener.onWorkload({ type: 'deleted', object: workloadOf({}, { name: 'gateway', namespace: 'shop' }) });
    assert.deepEqual([considered, rolledOut], [['a'], []]);
  });

  it('considers all configured ConfigMaps with each resync', () => {
    const { listener, considered } = listen();
    listener.resync();
    assert.deepEqual(considered, ['a', 'b']);
  });
});
