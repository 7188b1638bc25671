/** Two replicas rebase at the same time: the same image twice, and two images that would get the same tag. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createBaseAttestations } from '../../../src/bases/rebase/read-base-attestations.ts';
import { readContent } from '../../../src/bases/rebase/read-content.ts';
import { createFileSigns } from '../../../src/bases/rebase/read-file-signs.ts';
import {
  type Rebased,
  rebaseImage,
  type RebaseOrder,
  type RebasePorts,
  type RebaseResult,
} from '../../../src/bases/rebase/rebase-image.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { pushReal } from './build.ts';
import { java2, large, newBase, newHistory, os, pushJava } from './java-images.ts';

let registry: Registry;
let client: RegistryClient;
before(async () => {
  registry = await startRegistry();
  client = createRegistryClient({ registries: [{ host: registry.host, insecure: true }], allowedRegistries: [], credentials: () => [] });
});
after(async () => {
  await client.close();
  await registry.stop();
});

const signal = AbortSignal.timeout(300_000);
const tag = '1.2.3-base.20261123';
const push = () => pushJava({ registry: registry.host, proxy: registry.host });
const tagsOf = async ({ application }: RebaseOrder) =>
  ((await client.listTags(application.source)) ?? []).filter((one) => one.startsWith(tag)).sort();

/** Rebases as a replica does. */
function run(order: RebaseOrder, ports: Partial<RebasePorts> = {}): Promise<RebaseResult> {
  return rebaseImage(order, {
    registry: client,
    readFileSigns: createFileSigns(client),
    readBase: (located, signal) => readContent(located, client, signal),
    readAttestations: createBaseAttestations(client, Date.now),
    push: client.openPush(order.application.source, () => []),
    signal,
    now: Date.now,
    ...ports,
  });
}

function rebased(result: RebaseResult): Rebased {
  assert.equal(result.kind, 'rebased', 'message' in result ? result.message : '');
  return result;
}

test('two replicas that rebase the same image at the same time write the same digest, under one tag', async () => {
  const { order } = await push();
  // A registry may refuse one of two writes of the same tag at the same time (distribution: DIGEST_INVALID, of the list of referrers); the job is tried again.
  const tryTwice = () => run(order).catch(() => run(order));
  const [first, second] = (await Promise.all([tryTwice(), tryTwice()])).map(rebased);
  assert.deepEqual([first?.tag, second?.tag], [tag, tag]);
  assert.equal(first?.plan.image.digest, second?.plan.image.digest);
  assert.deepEqual(await tagsOf(order), [tag]);
  assert.equal((await client.headManifest(order.application.source, tag))?.digest, first?.plan.image.digest);
});

test('a tag that another replica takes for another image while this one is written is not overwritten', async () => {
  const { order } = await push();
  const openPush = client.openPush(order.application.source, () => []);
  let other: Rebased | undefined;
  const slow: NonNullable<RebasePorts['push']> = {
    ...openPush,
    async pushReferrer(...args) {
      // Everything but the tag is written: meanwhile the base is renewed, and another replica is done.
      const place = { host: registry.host, repository: order.newBase.source.path, tag: '21.0.2' };
      await pushReal(place, { ...newBase, layers: [os, large, { ...java2, 'opt/java/cert': 'renewed' }], history: newHistory.slice(0, 3) });
      other = rebased(await run(order));
      return openPush.pushReferrer(...args);
    },
  };
  const own = rebased(await run(order, { push: slow }));
  assert.deepEqual([other?.tag, own.tag], [tag, `${tag}.2`]);
  assert.notEqual(other?.plan.image.digest, own.plan.image.digest);
  const digests = await Promise.all(
    (await tagsOf(order)).map(async (one) => (await client.headManifest(order.application.source, one))?.digest),
  );
  assert.deepEqual(digests, [other?.plan.image.digest, own.plan.image.digest]);
});
