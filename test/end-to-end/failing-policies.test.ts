import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fakeImage, startFakeRegistry, type FakeRegistry } from '../harness/fake-registry.ts';
import { freePort } from '../harness/free-port.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type Service, type World } from './world.ts';

describe('a policy that keeps failing', () => {
  let world: World;
  let fake: FakeRegistry;
  let services: Service[];
  let nowhere: string;

  before(async () => {
    [world, fake] = await Promise.all([startWorld(), startFakeRegistry()]);
    nowhere = `127.0.0.1:${await freePort()}`;
    const registryHosts = [fake.host, nowhere];
    // Either may make an attempt.
    services = [await world.start({ registryHosts }), await world.start({ registryHosts })];
  });
  after(async () => {
    await world.stop();
    await fake.stop();
  });

  /** How many attempts have failed, in all replicas. */
  const failures = async () => {
    const texts = await Promise.all(services.map(async ({ operationsUrl }) => (await fetch(`${operationsUrl}/metrics`)).text()));
    const counted = texts.flatMap((text) => [
      ...text.matchAll(/^image_watcher_reconciles_total\{[^}]*outcome="(?:retrying|waiting)"[^}]*\} (\d+)$/gm),
    ]);
    return counted.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const warnings = async (name: string) =>
    (await world.waitForEvents('ImagePolicy', name)).filter(({ type, reason }) => type === 'Warning' && reason !== 'TargetNotFound');

  for (const [name, hostOf] of [
    ['unreachable', () => nowhere],
    ['refused', () => fake.host],
  ] as const) {
    it(`gets one Event for each reason, however often it fails, because its registry is ${name}`, async () => {
      fake.answerNext({ status: 500 }, { path: '/v2/shop/refused/tags/list', times: 1_000_000 });
      fake.setTag('shop/refused', '1.0.0', fakeImage('1'));
      await world.createDeployment(name, `${hostOf()}/shop/${name}:1.0.0`);
      const before = await failures();
      await world.createPolicy(name, `${hostOf()}/shop/${name}`, { strategy: 'SemVer' });
      const [first] = await waitFor('a Warning', async () => {
        const found = await warnings(name);
        return found.length > 0 && found;
      });
      assert.ok(first?.message.includes(hostOf()), first?.message);
      await waitFor('more failures', async () => (await failures()) >= before + 5);
      const reasons = (await warnings(name)).map(({ reason }) => reason);
      assert.deepEqual([...new Set(reasons)], reasons);
    });
  }
});
