/** The attestations of a new base, linked from the provenance of the images that are rebased onto it, in a real registry. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { kindOfPredicate } from '../../../src/bases/rebase/provenance.ts';
import { createBaseAttestations, type ReadBaseAttestations } from '../../../src/bases/rebase/read-base-attestations.ts';
import { readContent } from '../../../src/bases/rebase/read-content.ts';
import { createFileSigns } from '../../../src/bases/rebase/read-file-signs.ts';
import { type Rebased, rebaseImage, type RebaseOrder } from '../../../src/bases/rebase/rebase-image.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { fallbackTag } from '../../../src/service/registry/referrers.ts';
import { type Descriptor, digestOf, pushBlob, putManifest } from '../../harness/push-image.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { formats, type InTotoStatement } from '../recognize/build-image.ts';
import { type Pushed, pushJava } from './java-images.ts';

const spdx = 'https://spdx.dev/Document';
const cycloneDx = 'https://cyclonedx.org/bom/v1.6';
const slsa = 'https://slsa.dev/provenance/v1';
const statementType = 'application/vnd.in-toto+json';
const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const predicateKey = 'in-toto.io/predicate-type';
const platforms = ['linux/amd64', 'linux/arm64'];

let registry: Registry;
let proxy: RegistryProxy;
let client: RegistryClient;
let now = 0;
const signal = AbortSignal.timeout(300_000);

before(async () => {
  registry = await startRegistry();
  proxy = await startRegistryProxy(registry.host);
  client = createRegistryClient({ registries: [{ host: proxy.host, insecure: true }], allowedRegistries: [], credentials: () => [] });
});
afterEach(() => {
  proxy.fault = () => undefined;
});
after(async () => {
  await client.close();
  await proxy.stop();
  await registry.stop();
});

const statementOf = (predicateType: string, digest: string): InTotoStatement => ({
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'base', digest: { sha256: digest.slice(7) } }],
  predicateType,
  predicate: {},
});
const push = (...predicates: string[]) => {
  const statements = (digest: string) => predicates.map((one) => statementOf(one, digest));
  return pushJava({ registry: registry.host, proxy: proxy.host }, { newBase: { statements } });
};

/** A referrer to push: its type, and the annotations in the list of referrers and of its own manifest. */
interface Referrer {
  readonly predicate: string;
  readonly type?: string;
  readonly listed?: Readonly<Record<string, string>>;
  readonly own?: Readonly<Record<string, string>>;
}

/** Adds referrers to the new base, with the list that registries without the endpoint have. Returns their digests. */
async function refer({ order, digests }: Pushed, ...referrers: readonly Referrer[]): Promise<string[]> {
  const target = { host: registry.host, repository: order.newBase.source.path, tag: '' };
  const config = await pushBlob(target, 'application/vnd.oci.empty.v1+json', Buffer.from('{}'));
  const manifests: object[] = [];
  for (const { predicate, type = statementType, listed, own } of referrers) {
    const blob = Buffer.from(JSON.stringify(statementOf(predicate, digests.newBase)));
    const layers = [await pushBlob(target, type, blob)];
    const manifest = { schemaVersion: 2, mediaType: formats.oci.manifest, artifactType: type, config, layers, annotations: own };
    const bytes = Buffer.from(JSON.stringify(manifest));
    await putManifest(target, digestOf(bytes), formats.oci.manifest, manifest);
    const entry: Descriptor = { mediaType: formats.oci.manifest, digest: digestOf(bytes), size: bytes.length };
    manifests.push({ ...entry, artifactType: type, ...(listed && { annotations: listed }) });
  }
  await putManifest(target, fallbackTag(digests.newBase), formats.oci.index, {
    schemaVersion: 2,
    mediaType: formats.oci.index,
    manifests,
  });
  return manifests.map((one) => (one as Descriptor).digest);
}

async function rebase(order: RebaseOrder, readAttestations: ReadBaseAttestations): Promise<Rebased> {
  const result = await rebaseImage(order, {
    registry: client,
    readFileSigns: createFileSigns(client),
    readBase: (located, signal) => readContent(located, client, signal),
    readAttestations,
    push: client.openPush(order.application.source, () => []),
    signal,
    now: () => now,
  });
  assert.ok(result.kind === 'rebased', 'message' in result ? result.message : result.kind);
  return result;
}
const newReader = () => createBaseAttestations(client, () => now);

/** A descriptor: https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md */
interface ResourceDescriptor {
  readonly name: string;
  readonly uri: string;
  readonly digest: { readonly sha256: string };
  readonly mediaType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The links in the provenance of a rebased image. */
async function linksOf({ plan, application }: Rebased): Promise<ResourceDescriptor[]> {
  const source = application.repository;
  const [referrer] = await client.listReferrers(source, plan.image.digest, statementType);
  const manifest = await client.readManifest(source, referrer?.digest ?? '');
  const { layers } = JSON.parse(String(manifest?.bytes)) as { layers: [Descriptor] };
  const statement = JSON.parse(String(await client.readBlob(source, layers[0].digest, 100_000))) as {
    predicate: { buildDefinition: { resolvedDependencies: ResourceDescriptor[] } };
  };
  const [application_, oldBase, newBase, ...links] = statement.predicate.buildDefinition.resolvedDependencies;
  assert.deepEqual([application_?.name, oldBase?.name, newBase?.name], ['application', 'oldBase', 'newBase']);
  return links;
}
const digestsOf = (links: readonly ResourceDescriptor[]) => links.map(({ digest }) => `sha256:${digest.sha256}`);
const requestsFor = (what: RegExp, from: number) => proxy.requests.slice(from).filter(({ path }) => what.test(path)).length;
const lists = /\/base\/referrers\//;

test('a rebased image links the SBOMs and provenance of its base, from the index and the referrers of the base', async () => {
  const pushed = await push(spdx, slsa);
  const [bundle, ...others] = await refer(
    pushed,
    { predicate: cycloneDx, type: bundleType, listed: { 'dev.sigstore.bundle.predicateType': cycloneDx } },
    {
      predicate: 'https://sigstore.dev/cosign/sign/v1',
      type: bundleType,
      listed: { 'dev.sigstore.bundle.predicateType': 'https://sigstore.dev/cosign/sign/v1' },
    },
    { predicate: spdx, type: 'text/plain', listed: { [predicateKey]: spdx } },
  );
  assert.equal(others.length, 2);
  const { order } = pushed;
  const base = await readContent(order.newBase, client, signal);
  assert.ok(base !== undefined && 'index' in base);
  const result = await rebase(order, newReader());
  const links = await linksOf(result);
  const repository = `${proxy.host}/${order.newBase.source.path}`;
  const expected = (base.index?.manifests ?? []).filter(({ platform }) => platform?.os === 'unknown');
  assert.equal(expected.length, 4);
  assert.deepEqual(links, [
    ...expected.map(({ digest, mediaType, annotations }, index) => ({
      name: index % 2 === 0 ? 'newBaseSbom' : 'newBaseProvenance',
      uri: `oci://${repository}@${digest}`,
      digest: { sha256: digest.slice(7) },
      mediaType,
      annotations: {
        [predicateKey]: index % 2 === 0 ? spdx : slsa,
        'vnd.docker.reference.digest': annotations?.['vnd.docker.reference.digest'],
      },
    })),
    {
      name: 'newBaseSbom',
      uri: `oci://${repository}@${bundle}`,
      digest: { sha256: bundle?.slice(7) },
      mediaType: formats.oci.manifest,
      annotations: { [predicateKey]: cycloneDx },
    },
  ]);
});

test('of a base with more platforms than the application, only those of the application are read and linked', async () => {
  const statements = (digest: string) => [statementOf(spdx, digest)];
  const one = { platforms: ['linux/arm64'] };
  const pushed = await pushJava({ registry: registry.host, proxy: proxy.host }, { newBase: { statements }, application: one });
  const links = await linksOf(await rebase(pushed.order, newReader()));
  const base = await readContent(pushed.order.newBase, client, signal);
  const arm = base && 'platforms' in base ? base.platforms.find(({ platform }) => platform === 'linux/arm64') : undefined;
  assert.deepEqual(
    links.map(({ annotations }) => annotations?.['vnd.docker.reference.digest']),
    [arm?.entry?.digest],
  );
});

test('a referrer whose list has no annotations is read, and linked if its manifest names the predicate', async () => {
  const pushed = await push();
  const [named] = await refer(pushed, { predicate: spdx, own: { [predicateKey]: spdx } }, { predicate: spdx });
  assert.deepEqual(digestsOf(await linksOf(await rebase(pushed.order, newReader()))), [named]);
});

test('the referrers of a base are listed once for many images, and again after some time', async () => {
  const pushed = await push(spdx);
  const [referrer] = await refer(pushed, { predicate: slsa, listed: { [predicateKey]: slsa } });
  const read = newReader();
  const seen = proxy.requests.length;
  const rebased = await rebase(pushed.order, read);
  const attestations = (await linksOf(rebased)).map(({ uri }) => uri.split('@').at(-1) ?? '');
  assert.equal(attestations.length, platforms.length + 1);
  const base = { source: pushed.order.newBase.source, content: rebased.newBase, manifests: rebased.plan.baseManifests };
  const before = proxy.requests.length;
  const both = await Promise.all([read(base, signal), read(base, signal)]);
  assert.deepEqual(
    both.map((found) => found.map(({ digest }) => digest)),
    [attestations, attestations],
  );
  assert.equal(proxy.requests.length, before);
  assert.equal(requestsFor(lists, seen), 1);
  for (const digest of attestations) assert.equal(requestsFor(new RegExp(`/base/manifests/${digest}`), seen), digest === referrer ? 0 : 1);

  now += 600_000;
  await read(base, signal);
  assert.equal(requestsFor(lists, seen), 2);
});

test('the rebased image does not depend on the attestations of its base', async () => {
  const pushed = await push();
  const without = await rebase(pushed.order, newReader());
  assert.deepEqual(await linksOf(without), []);
  await refer(pushed, { predicate: spdx, listed: { [predicateKey]: spdx } });
  const again = await rebase({ ...pushed.order, tag: '$tag-again' }, newReader());
  assert.equal(again.plan.image.digest, without.plan.image.digest);
});

for (const [name, status, isAnswered] of [
  ['fail', 500, /\/base\/referrers\//],
  ['are forbidden', 403, /\/base\/referrers\//],
] as const)
  test(`an image is rebased without links if the lists of referrers ${name}, and the registry is not asked again for a minute`, async () => {
    const pushed = await push();
    await refer(pushed, { predicate: spdx, listed: { [predicateKey]: spdx } });
    const read = newReader();
    proxy.fault = (_method, path) => (isAnswered.test(path) ? { status } : undefined);
    const rebased = await rebase(pushed.order, read);
    assert.deepEqual(await linksOf(rebased), []);
    const base = { source: pushed.order.newBase.source, content: rebased.newBase, manifests: rebased.plan.baseManifests };
    const seen = proxy.requests.length;
    assert.deepEqual(await read(base, signal), []);
    assert.equal(proxy.requests.length, seen);
    proxy.fault = () => undefined;
    now += 60_000;
    assert.equal((await read(base, signal)).length, 1);
  });

test('a base with very many attestations has sixteen links, the same in every order', async () => {
  const pushed = await push();
  const many = Array.from({ length: 40 }, (_, index) => ({ predicate: spdx, own: { n: `${index}` }, listed: { [predicateKey]: spdx } }));
  await refer(pushed, ...many);
  const rebased = await rebase(pushed.order, newReader());
  const links = await linksOf(rebased);
  assert.equal(links.length, 16);
  await refer(pushed, ...many.toReversed());
  const base = { source: pushed.order.newBase.source, content: rebased.newBase, manifests: rebased.plan.baseManifests };
  assert.deepEqual(
    (await newReader()(base, signal)).map(({ digest }) => digest),
    digestsOf(links),
  );
});

test('a rebase that is aborted while attestations are read does not continue without them', async () => {
  const pushed = await push();
  const { order, digests } = pushed;
  const base = { source: order.newBase.source, content: { digest: digests.newBase }, manifests: [] };
  const ended = new AbortController();
  proxy.fault = (_method, path) => {
    if (lists.test(path)) ended.abort(new Error('ended'));
    return undefined;
  };
  const read = newReader();
  await assert.rejects(read(base, ended.signal), /ended/);
  await refer(pushed, { predicate: spdx, listed: { [predicateKey]: spdx } });
  assert.equal((await read(base, signal)).length, 1);
});

test('only known predicates are linked, in any of their versions', () => {
  for (const one of [spdx, `${spdx}/v2.3`, 'https://cyclonedx.org/bom', cycloneDx]) assert.equal(kindOfPredicate(one), 'Sbom', one);
  for (const one of [slsa, 'https://slsa.dev/provenance/v0.2']) assert.equal(kindOfPredicate(one), 'Provenance', one);
  for (const one of ['', `${spdx}\n`, `${slsa}/v1`, 'https://openvex.dev/ns', 'https://sigstore.dev/cosign/sign/v1'])
    assert.equal(kindOfPredicate(one), undefined, one);
});
