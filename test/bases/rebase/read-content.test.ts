/** What is read of images in a real registry, and what is refused before it is read. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isRefusal } from '../../../src/bases/rebase/refusal.ts';
import { readContent } from '../../../src/bases/rebase/read-content.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { formats } from '../recognize/build-image.ts';
import { pushBlob, putManifest, type PushTarget } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { pushReal, type RealBuild } from './build.ts';

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

const { oci } = formats;
const build: RealBuild = { layers: [{ a: 'b' }] };
const variants = (count: number) => Array.from({ length: count }, (_, index) => `linux/arm/v${index}`);
const labels = (length: number) => ({ Labels: { large: 'x'.repeat(length) } });

/** An image whose manifest says something wrong about its configuration. */
async function pushWrong(target: PushTarget, size: number, mediaType: string = oci.config, layers: readonly object[] = []) {
  const config = { os: 'linux', architecture: 'amd64', rootfs: { type: 'layers', diff_ids: [] } };
  const { digest } = await pushBlob(target, oci.config, Buffer.from(JSON.stringify(config)));
  await putManifest(target, target.tag, oci.manifest, {
    schemaVersion: 2,
    mediaType: oci.manifest,
    config: { mediaType, digest, size },
    layers,
  });
}

const refused: Record<string, [push: (target: PushTarget) => Promise<unknown>, reason: string, message: RegExp]> = {
  'more platforms than are rebased': [(target) => pushReal(target, { ...build, platforms: variants(33) }), 'TooLarge', /for 33 platforms/],
  'a large configuration': [
    (target) => pushReal(target, { ...build, platforms: ['linux/amd64'], config: labels(1_100_000) }),
    'TooLarge',
    /at most 1048576 are read/,
  ],
  'large configurations of many platforms': [
    (target) => pushReal(target, { ...build, platforms: variants(24), config: labels(900_000) }),
    'TooLarge',
    /have more than 16777216 bytes/,
  ],
  'a configuration of another size than its manifest says': [(target) => pushWrong(target, 1), 'Unreadable', /another size/],
  'more variables than are compared': [
    (target) =>
      pushReal(target, { ...build, platforms: ['linux/amd64'], config: { Env: Array.from({ length: 257 }, (_, i) => `A${i}=1`) } }),
    'Unreadable',
    /cannot be read/,
  ],
  'a chart': [
    (target) => pushWrong(target, 1, 'application/vnd.cncf.helm.config.v1+json'),
    'NotAnImage',
    /its configuration has another type/,
  ],
  'an index of nothing': [
    (target) => putManifest(target, target.tag, oci.index, { schemaVersion: 2, mediaType: oci.index, manifests: [] }),
    'NotAnImage',
    /an index without an image/,
  ],
};

for (const [name, [push, reason, message]] of Object.entries(refused)) {
  test(`the content of an image is refused for a rebase if it has or is: ${name}`, async () => {
    const target = { host: registry.host, repository: 'shop/web', tag: name.replaceAll(' ', '-') };
    await push(target);
    const content = await readContent({ source: { registry: registry.host, path: 'shop/web' }, reference: target.tag }, client);
    assert.ok(content && isRefusal(content));
    assert.equal(content.reason, reason);
    assert.match(content.message, message);
  });
}

test('control characters in the name of a platform are not shown', async () => {
  await pushReal({ host: registry.host, repository: 'shop/odd', tag: '1' }, { ...build, platforms: ['linux/\u001b[31mred'] });
  const content = await readContent({ source: { registry: registry.host, path: 'shop/odd' }, reference: '1' }, client);
  assert.ok(content && !isRefusal(content));
  assert.equal(content.platforms[0]?.platform, 'linux/?[31mred');
});

test('the content of an image is read with one platform and with several', async () => {
  const source = { registry: registry.host, path: 'shop/web' };
  const target = { host: registry.host, repository: source.path };
  const one = await pushReal({ ...target, tag: 'one' }, { ...build, platforms: ['linux/arm64'] });
  const both = await pushReal({ ...target, tag: 'both' }, build);
  for (const [tag, digest, platforms] of [
    ['one', one.digest, ['linux/arm64']],
    ['both', both.digest, ['linux/amd64', 'linux/arm64']],
  ] as const) {
    const content = await readContent({ source, reference: tag }, client);
    assert.ok(content && !isRefusal(content));
    assert.deepEqual([content.tag, content.digest, content.platforms.map(({ platform }) => platform)], [tag, digest, platforms]);
  }
  assert.equal(await readContent({ source, reference: 'none' }, client), undefined);
});
