/** What was rebased on a rejected base is taken back in a real registry. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { discardRebased } from '../../../src/bases/rebase/discard-rebased.ts';
import { createBaseAttestations } from '../../../src/bases/rebase/read-base-attestations.ts';
import { createBaseReader } from '../../../src/bases/rebase/read-content.ts';
import { createFileSigns } from '../../../src/bases/rebase/read-file-signs.ts';
import { rebaseImage } from '../../../src/bases/rebase/rebase-image.ts';
import { rejectionType } from '../../../src/bases/rebase/rejection-mark.ts';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { digestOfTag, type Pushed, pushJava } from './java-images.ts';

let registry: Registry;
let proxy: RegistryProxy;
let client: RegistryClient;
const signal = AbortSignal.timeout(300_000);
const tag = '1.2.3-base.20261123';
const indexType = 'application/vnd.oci.image.index.v1+json';

before(async () => {
  registry = await startRegistry();
  proxy = await startRegistryProxy(registry.host);
  client = createRegistryClient({ registries: [{ host: proxy.host, insecure: true }], allowedRegistries: [], credentials: () => [] });
});
after(async () => {
  await client.close();
  await proxy.stop();
  await registry.stop();
});
afterEach(() => {
  proxy.fault = () => undefined;
});

const push = () => pushJava({ registry: registry.host, proxy: proxy.host });

function portsFor({ order }: Pushed) {
  const ways = {
    readFileSigns: createFileSigns(client),
    readBase: createBaseReader(client, Date.now),
    readAttestations: createBaseAttestations(client, Date.now),
  };
  return { registry: client, ...ways, push: client.openPush(order.application.source, () => []), signal, now: Date.now };
}

async function rebase(pushed: Pushed) {
  const result = await rebaseImage(pushed.order, portsFor(pushed));
  assert.ok(result.kind === 'rebased', JSON.stringify(result));
  return { tag: result.tag, digest: result.plan.image.digest };
}

const discard = (pushed: Pushed, isInUse = false, more: object = {}) =>
  discardRebased(pushed.order, { message: 'web crashes', isInUse: () => isInUse }, { ...portsFor(pushed), ...more });

const urlOf = ({ order }: Pushed, reference: string) =>
  `http://${registry.host}/v2/${order.application.source.path}/manifests/${reference}`;

/** The annotations of the marks of an image, from the list of referrers that the registry keeps as a tag. */
async function marksOf(pushed: Pushed, digest: string) {
  const answer = await fetch(urlOf(pushed, digest.replace(':', '-')), { headers: { accept: indexType } });
  const { manifests } = (await answer.json()) as { manifests: { artifactType?: string; annotations?: Record<string, string> }[] };
  return manifests.filter(({ artifactType }) => artifactType === rejectionType).map(({ annotations }) => annotations);
}

/** Answers requests that delete something; returns what they are about. */
function answerDelete(status: number): string[] {
  const asked: string[] = [];
  proxy.fault = (method, path) => {
    if (method !== 'DELETE') return undefined;
    asked.push(path);
    return { status };
  };
  return asked;
}

const writesSince = (seen: number) => proxy.requests.slice(seen).filter(({ method }) => method !== 'GET' && method !== 'HEAD');

test('a discarded image is marked and loses its tag, and a rebase after a release writes the same tag and digest', async () => {
  const pushed = await push();
  const first = await rebase(pushed);
  const asked = answerDelete(202);
  assert.deepEqual(await discard(pushed), { tag, result: 'Deleted' });
  assert.deepEqual(asked, [`/v2/${pushed.order.application.source.path}/manifests/${tag}`]);
  const base = `${formatRepository(pushed.order.newBase.source)}@${pushed.digests.newBase}`;
  assert.deepEqual(await marksOf(pushed, first.digest), [
    { 'operator.technomad.dev/rejected-base': base, 'operator.technomad.dev/rejected-because': 'web crashes' },
  ]);
  // This registry deletes digests alone, others the tag.
  await fetch(urlOf(pushed, first.digest), { method: 'DELETE' });
  assert.equal(await digestOfTag(pushed, tag), null);
  const seen = proxy.requests.length;
  assert.deepEqual([await discard(pushed), writesSince(seen)], [undefined, []]);
  assert.deepEqual(await rebase(pushed), first);
});

test('a discarded image keeps its tag, with one mark, if the registry does not delete tags', async () => {
  const pushed = await push();
  const first = await rebase(pushed);
  // The registry itself, and the answers of others.
  assert.deepEqual(await discard(pushed), { tag, result: 'Kept' });
  for (const status of [400, 401, 403, 405]) {
    answerDelete(status);
    assert.deepEqual(await discard(pushed), { tag, result: 'Kept' });
  }
  assert.deepEqual([await digestOfTag(pushed, tag), (await marksOf(pushed, first.digest)).length], [first.digest, 1]);
});

test('the tag of a discarded image counts as deleted if it is already gone, and other answers are errors', async () => {
  const pushed = await push();
  await rebase(pushed);
  answerDelete(404);
  assert.deepEqual(await discard(pushed), { tag, result: 'Deleted' });
  answerDelete(500);
  await assert.rejects(discard(pushed), /DELETE tag .*:1\.2\.3-base\.20261123: registry answered 500/);
});

test('an image that is in use, or another image under the tag, is not discarded', async () => {
  const pushed = await push();
  await rebase(pushed);
  const seen = proxy.requests.length;
  assert.deepEqual([await discard(pushed, true), writesSince(seen)], [{ tag, result: 'InUse' }, []]);
  const other = await fetch(urlOf(pushed, '1.2.3'), { headers: { accept: indexType } });
  const headers = { 'content-type': other.headers.get('content-type') ?? '' };
  assert.equal((await fetch(urlOf(pushed, tag), { method: 'PUT', headers, body: await other.text() })).status, 201);
  assert.deepEqual([await discard(pushed), writesSince(seen)], [undefined, []]);
});

test('the tag of a discarded image is kept if somebody gives it to another image just then', async () => {
  const pushed = await push();
  await rebase(pushed);
  const other = await fetch(urlOf(pushed, '1.2.3'), { headers: { accept: indexType } });
  const headers = { 'content-type': other.headers.get('content-type') ?? '' };
  const body = await other.text();
  const asked = answerDelete(202);
  const headManifest: RegistryClient['headManifest'] = async (...args) => {
    const found = await client.headManifest(...args);
    assert.equal((await fetch(urlOf(pushed, tag), { method: 'PUT', headers, body })).status, 201);
    return found;
  };
  assert.deepEqual([await discard(pushed, false, { registry: { ...client, headManifest } }), asked], [undefined, []]);
});
