/** A kind that is installed after it was named, on a real API server. The clock of the discovery stands still, so its answers never become old by themselves. */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createDefinitionWatch, createRediscoveries } from '../../../src/service/cluster/definition-watch.ts';
import { createKindWatches } from '../../../src/service/cluster/kind-watches.ts';
import { openKubeClient } from '../../../src/service/kube/client.ts';
import { createDiscovery } from '../../../src/service/kube/discovery.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { kubeconfigWithGrants, type Rule } from '../../harness/service-account.ts';
import { shippedRules } from '../../harness/shipped-permissions.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { installKind, removeKind, type CustomKind } from '../kube/targets/custom-definition.ts';

const kindNumber = (index: number): CustomKind => ({
  group: `late-${index}.example.com`,
  version: 'v1',
  kind: 'Machine',
  plural: 'machinery',
});

describe('a kind that is installed after a policy named it', () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await borrowControlPlane();
  });
  after(() => cluster.stop());

  let accounts = 0;
  const start = async (context: TestContext, rules: readonly Rule[], namespaces: string[] = []) => {
    const account = { namespace: 'default', name: `definitions-${accounts++}` };
    const all: Rule = { apiGroups: ['*'], resources: ['machinery'], verbs: ['list', 'watch'] };
    const kubeconfig = await kubeconfigWithGrants(cluster, account, [{ rules: [all, ...rules] }]);
    const client = await openKubeClient({ kubeconfig, requestTimeoutMs: 60_000 });
    const watches = createKindWatches({
      client,
      discovery: createDiscovery(client, [], () => 0),
      namespaces: [undefined],
      onChange: () => undefined,
      onReady: () => undefined,
      onError: () => undefined,
      now: Date.now,
      random: Math.random,
    });
    const definitions = createDefinitionWatch({ namespaces, logger: createLogger('silent'), rediscover: watches.rediscover }, client);
    context.after(async () => {
      await definitions.stop();
      await watches.stop();
      await client.close();
    });
    const name = ({ group, version, kind }: CustomKind) => {
      const ref = { apiVersion: `${group}/${version}`, kind };
      watches.startWatches([ref]);
      return async (wanted: 'unknown' | 'listed') =>
        waitFor(`${ref.apiVersion} to be ${wanted}`, () => {
          const state = watches.state(ref, 'default');
          return state !== 'starting' && (wanted === 'listed' ? 'since' in state : 'problem' in state);
        });
    };
    return { definitions, name };
  };

  it('is found by the watch of definitions, whether the kind or the watch is first', async (context) => {
    const { definitions, name } = await start(context, shippedRules('work-definitions'));
    const [first, second] = [kindNumber(1), kindNumber(2)];
    const untilFirst = name(first);
    await untilFirst('unknown');
    definitions.start();
    await waitFor('the watch', () => definitions.watches().every((watch) => watch.check().ok));
    await installKind(cluster, first);
    await untilFirst('listed');
    // The answers of discovery are older than this definition.
    await installKind(cluster, second);
    await name(second)('listed');
    for (const kind of [first, second]) await removeKind(cluster, kind);
  });

  it('is found by the first list of definitions', async (context) => {
    const { definitions, name } = await start(context, shippedRules('work-definitions'));
    const kind = kindNumber(3);
    const until = name(kind);
    await until('unknown');
    await installKind(cluster, kind);
    definitions.start();
    await until('listed');
    await removeKind(cluster, kind);
  });

  it('is left to the next discovery without the permission for definitions, and with `watch.namespaces`', async (context) => {
    const forbidden = await start(context, []);
    forbidden.definitions.start();
    await waitFor('the refusal', () =>
      forbidden.definitions.watches().some((watch) => watch.check().detail?.startsWith('forbidden') === true),
    );
    assert.deepEqual(
      forbidden.definitions.watches().map((watch) => [watch.check().ok, watch.check().required]),
      [[true, false]],
    );
    const some = await start(context, [], ['default']);
    some.definitions.start();
    assert.deepEqual(some.definitions.watches(), []);
  });
});

it('after a change of a definition, its group is discovered again several times, at most every 200 ms, and then no more', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const found: string[] = [];
  const rediscoveries = createRediscoveries((group) => found.push(group));
  const pass = (ms: number, stepMs: number, onStep: () => void) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      onStep();
      context.mock.timers.tick(stepMs);
    }
    return found.splice(0).length;
  };
  rediscoveries.onChange('a');
  rediscoveries.onChange('b');
  assert.deepEqual(found.splice(0), ['a', 'b']);
  // At 200, 400, 800, 1600, 3200 and 6400 ms.
  assert.equal(
    pass(6_390, 10, () => undefined),
    10,
  );
  assert.equal(
    pass(10, 10, () => undefined),
    2,
  );
  assert.equal(
    pass(60_000, 100, () => undefined),
    0,
  );
  // It changes a thousand times in ten seconds.
  assert.equal(
    pass(10_000, 10, () => rediscoveries.onChange('a')),
    51,
  );
  rediscoveries.stop();
  assert.equal(
    pass(60_000, 100, () => undefined),
    0,
  );
});
