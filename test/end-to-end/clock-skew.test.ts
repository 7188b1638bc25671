/** Clocks of replicas are far apart, and both are not the API server's: what happens does not depend on them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fakeImage, startFakeRegistry, type FakeRegistry } from '../harness/fake-registry.ts';
import { createFleet, eachOf } from './fleet.ts';
import { deliverUntilAccepted, startWorld, type Service, type World } from './world.ts';

const hourMs = 3_600_000;
const skewed = (ms: number) => ({
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '../harness/skewed-clock.mjs')).href}`,
  CLOCK_SKEW_MS: String(ms),
  WEBHOOK_SECRET: 'end-to-end-secret',
});

describe('two replicas, one an hour ahead and one an hour behind,', () => {
  let world: World;
  let fake: FakeRegistry;
  let both: Service[];
  before(async () => {
    [world, fake] = await Promise.all([startWorld(), startFakeRegistry()]);
    const registryHosts = [world.quiet.host, fake.host];
    both = await Promise.all([hourMs, -hourMs].map((ms) => world.start({ registryHosts, env: skewed(ms) })));
  });
  after(async () => {
    await world.stop();
    await fake.stop();
  });

  it('are an hour off in opposite directions', () => {
    const times = both.map((service) =>
      Date.parse(
        service
          .logTail(20)
          .match(/(?<="time":")[^"]+/g)
          ?.at(-1) ?? '',
      ),
    );
    const [ahead = 0, behind = 0] = times;
    assert.ok(ahead - behind > hourMs, times.join());
  });

  it('apply each push to either of them once', async () => {
    const fleet = await createFleet(world, 'skewed', 20);
    let turn = 0;
    await eachOf(fleet.deliveries, (body) => deliverUntilAccepted(body, ...(turn++ % 2 ? both : both.toReversed())));
    await fleet.assertPatchedOnce();
  });

  it('continue to poll, and find a push that no webhook announced', async () => {
    fake.setTag('shop/polled', '1.0.0', fakeImage('1'));
    await world.createDeployment('polled', `${fake.host}/shop/polled:1.0.0`);
    await world.createPolicy('polled', `${fake.host}/shop/polled`, { strategy: 'SemVer' }, { poll: { interval: '5s' } });
    await world.waitForFirstLook('polled');
    for (const tag of ['1.0.1', '1.0.2']) {
      fake.setTag('shop/polled', tag, fakeImage('2'));
      await world.waitForImage('polled', `${fake.host}/shop/polled:${tag}`);
    }
  });
});
