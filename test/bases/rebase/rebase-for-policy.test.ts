/** Rebases with the Secrets of a policy, in a real registry that knows who reads and who writes. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { RebaseAction } from '../../../src/core/model/base-policy.ts';
import { PermanentError, WaitError } from '../../../src/core/model/errors.ts';
import type { Verification } from '../../../src/core/model/verification.ts';
import type { SecretContent } from '../../../src/core/model/image-source.ts';
import { createPolicyRebases, type PolicyRebase } from '../../../src/bases/rebase/rebase-for-policy.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import { basicAuthorization } from '../../../src/service/registry/credential.ts';
import { readPublicKey } from '../../../src/service/verify/public-keys.ts';
import { createImageVerifier } from '../../../src/service/verify/image-verifier.ts';
import { findSignatures } from '../../../src/service/verify/find-signatures.ts';
import { verifySignatures } from '../../../src/service/verify/verify-signatures.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { ecSigner, pemOf, signSimple } from '../../service/verify/cosign.ts';
import { pushSimple } from '../../service/verify/push-signature.ts';
import { application, digestOfTag, type Pushed, pushJava, type PushJava } from './java-images.ts';

let registry: Registry;
let proxy: RegistryProxy;
let clients: RegistryClient[] = [];
const signal = AbortSignal.timeout(300_000);
const reader = { username: 'reader', password: 'reads' };
const pusher = { username: 'pusher', password: 'writes' };
const signer = ecSigner();
const baseSigner = ecSigner();

before(async () => {
  registry = await startRegistry();
  proxy = await startRegistryProxy(registry.host);
});
after(async () => {
  await proxy.stop();
  await registry.stop();
});
afterEach(async () => {
  proxy.fault = () => undefined;
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});

const push: PushJava = (change, all) => pushJava({ registry: registry.host, proxy: proxy.host }, change, all);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const unauthorized = { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } };

/** The reader may read everything, the pusher only the repository of the application, where it may write. */
function guard({ order }: Pushed) {
  const application = `/v2/${order.application.source.path}/`;
  proxy.fault = (method, path, authorization) => {
    const isRead = method === 'GET' || method === 'HEAD';
    if (isRead && authorization === basicAuthorization(reader)) return undefined;
    return path.startsWith(application) && authorization === basicAuthorization(pusher) ? undefined : unauthorized;
  };
}

const secretsOf = (): Record<string, SecretContent> => ({
  'platform/rebaser': {
    data: {
      '.dockerconfigjson': base64(
        JSON.stringify({ auths: { [proxy.host]: pusher, 'other.example.com': { username: 'x', password: 'y' } } }),
      ),
    },
  },
  'platform/signer': { data: { 'rebase.pem': base64(signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()), empty: '' } },
  'platform/base': { data: { 'cosign.pub': base64(pemOf(baseSigner)) } },
});

const notOwn = { credentials: () => assert.fail('the credentials of image-watcher are not for this policy'), mayPush: () => true };

async function run(
  pushed: Pushed,
  {
    action = {},
    verification = { keys: [{ secret: 'base', key: 'cosign.pub' }], signers: [] },
    image = {},
    secrets = {},
    confirm = () => Promise.resolve(),
    isOnlyPlanned = false,
  }: {
    action?: Partial<RebaseAction>;
    verification?: Verification | null;
    image?: object;
    secrets?: Record<string, SecretContent>;
    confirm?: () => Promise<void>;
    isOnlyPlanned?: boolean;
  } = {},
) {
  const { order, digests } = pushed;
  const client = createRegistryClient({
    registries: [{ host: proxy.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [{ source: 'the credentials for reading', read: () => Promise.resolve(reader) }],
  });
  clients.push(client);
  const known = { ...secretsOf(), ...secrets };
  const readSecret = ({ namespace, name }: { namespace: string; name: string }) =>
    Promise.resolve(known[`${namespace}/${name}`] ?? { why: 'does not exist' });
  const policyRebase: PolicyRebase = {
    policy: { namespace: 'platform', spec: { base: { repository: order.newBase.source, ...(verification && { verification }) } } },
    action: { kind: 'rebase', images: ['*'], tag: '$tag-base.$date', allow: [], pushSecret: 'rebaser', ...action },
    image: { source: order.application.source, tag: '1.2.3', digest: digests.application, base: digests.oldBase, ...image },
    base: { tag: '21.0.2', digest: digests.newBase, tags: ['21.0.2'] },
    date: order.date,
    isOnlyPlanned,
  };
  const verify = createImageVerifier({ registry: client, readSecret });
  return createPolicyRebases({ registry: client, readSecret, verify, own: notOwn, now: Date.now }).rebase(policyRebase, {
    signal,
    confirm,
  });
}

test('an image is rebased for a policy, and a repetition has the same result and writes nothing', async () => {
  const pushed = await push();
  guard(pushed);
  const first = await run(pushed);
  assert.ok('tag' in first, JSON.stringify(first));
  assert.deepEqual([first.tag, await digestOfTag(pushed, first.tag)], ['1.2.3-base.20261123', first.digest]);
  const seen = proxy.requests.length;
  assert.deepEqual(await run(pushed), first);
  assert.deepEqual(await run(pushed, { isOnlyPlanned: true }), { isPlanned: true });
  assert.ok(!proxy.requests.slice(seen).some(({ method }) => method !== 'GET' && method !== 'HEAD'));
});

test('a rebase writes nothing more when the policy no longer permits it', async () => {
  for (const permitted of [0, 1, 5]) {
    const pushed = await push();
    guard(pushed);
    let asked = 0;
    const confirm = () => (asked++ < permitted ? Promise.resolve() : Promise.reject(new Error('suspended meanwhile')));
    const seen = proxy.requests.length;
    await assert.rejects(run(pushed, { confirm }), /suspended meanwhile/);
    const written = proxy.requests.slice(seen).filter(({ method }) => method !== 'GET' && method !== 'HEAD');
    assert.equal(written.length, permitted);
    assert.equal(await digestOfTag(pushed, '1.2.3-base.20261123'), null);
  }
});

test('the push Secret is sent only to the repository of the application, and images are read without it', async () => {
  const pushed = await push();
  guard(pushed);
  const seen = proxy.requests.length;
  await run(pushed);
  const requests = proxy.requests.slice(seen);
  const of = (credential: typeof reader) => requests.filter(({ authorization }) => authorization === basicAuthorization(credential));
  const [written, read] = [of(pusher), of(reader)];
  assert.ok(written.length > 5 && read.length > 5);
  const { application, newBase } = pushed.order;
  assert.deepEqual(
    written.filter(({ path }) => !path.startsWith(`/v2/${application.source.path}/`)),
    [],
  );
  assert.ok(read.some(({ path }) => path.startsWith(`/v2/${newBase.source.path}/`)));
  // Manifests are read with it only to add to the list of referrers.
  assert.ok(written.every(({ method, path }) => method !== 'GET' || /\/manifests\/sha256-/.test(path)));
});

test('a repeated rebase uses the digest that was examined, also after its tag was moved', async () => {
  const pushed = await push();
  const { path } = pushed.order.application.source;
  const accept = 'application/vnd.oci.image.index.v1+json';
  const other = await (
    await fetch(`http://${registry.host}/v2/${pushed.order.newBase.source.path}/manifests/21.0.2`, { headers: { accept } })
  ).text();
  const first = await run(pushed);
  assert.ok('tag' in first);
  const moved = JSON.stringify({ ...(JSON.parse(other) as object), manifests: [] });
  const put = await fetch(`http://${registry.host}/v2/${path}/manifests/1.2.3`, {
    method: 'PUT',
    headers: { 'content-type': accept },
    body: moved,
  });
  assert.equal(put.status, 201);
  assert.deepEqual(await run(pushed), first);
});

describe('a rebase is refused before it writes anything', () => {
  const pem = (text: string): Record<string, SecretContent> => ({ 'platform/signer': { data: { 'rebase.pem': base64(text) } } });
  const signingKey = { secret: 'signer', key: 'rebase.pem' };
  const cases: Record<string, [how: Parameters<typeof run>[1], reason: string, message: RegExp]> = {
    'without a push Secret': [
      { action: { pushSecret: 'none' } },
      'PushSecretUnusable',
      /^Secret platform\/none does not exist: it must allow to push to 127/,
    ],
    'with a push Secret for another registry': [
      { secrets: { 'platform/rebaser': { data: { '.dockerconfigjson': base64('{"auths":{"other.example.com":{"auth":"eDp5"}}}') } } } },
      'PushSecretUnusable',
      /has no entry for 127/,
    ],
    'with a push Secret of another kind': [
      { secrets: { 'platform/rebaser': { data: { '.dockerconfigjson': '' } } } },
      'PushSecretUnusable',
      /cannot be used/,
    ],
    'without a signing Secret': [
      { action: { signingKey: { secret: 'none', key: 'k' } } },
      'SigningKeyUnusable',
      /^Secret platform\/none does not exist$/,
    ],
    'with a signing Secret that lacks the key': [
      { action: { signingKey: { secret: 'signer', key: 'constructor' } } },
      'SigningKeyUnusable',
      /^Secret platform\/signer has no key constructor$/,
    ],
    'with a signing Secret that lacks the password': [
      { action: { signingKey: { ...signingKey, passwordKey: 'password' } } },
      'SigningKeyUnusable',
      /has no key password$/,
    ],
    'with a signing Secret whose key is not a private key': [
      { action: { signingKey }, secrets: pem('hello') },
      'SigningKeyUnusable',
      /^key rebase\.pem of Secret platform\/signer is not a private key/,
    ],
    'that would sign an image that is not signed': [{ action: { signingKey } }, 'SignatureAdded', /application is not signed/],
    'when the base has gone': [{ image: { base: `sha256:${'0'.repeat(64)}` } }, 'NotFound', /the registry does not have .*base@sha256:000/],
    'when the first number of the tag changes': [
      { image: { baseTags: ['17.0.9'] } },
      'MajorVersionChanged',
      /from "17\.0\.9" to "21\.0\.2"/,
    ],
    'when another tag changes major': [{ image: { baseTags: ['latest', '17.0.9'] } }, 'MajorVersionChanged', /from "latest, 17\.0\.9" to/],
    'when the new base would change nothing': [{ image: {} }, 'LayersUnchanged', /has the layers of 21\.0\.2 already, and no setting/],
  };
  for (const [name, [how, reason, message]] of Object.entries(cases)) {
    test(name, async () => {
      const pushed = reason === 'LayersUnchanged' ? await pushOnNewBase() : await push();
      guard(pushed);
      const seen = proxy.requests.length;
      const result = await run(pushed, how);
      assert.ok('refused' in result, JSON.stringify(result));
      assert.equal(result.refused.reason, reason);
      assert.match(result.refused.message, message);
      assert.ok(!proxy.requests.slice(seen).some(({ method }) => method !== 'GET' && method !== 'HEAD'));
    });
  }
});

test('an error names the Secret whose credentials the registry refuses', async () => {
  const pushed = await push();
  guard(pushed);
  const wrong = { username: 'pusher', password: 'wrong' };
  const secrets = { 'platform/rebaser': { data: { '.dockerconfigjson': base64(JSON.stringify({ auths: { [proxy.host]: wrong } })) } } };
  await assert.rejects(
    run(pushed, { secrets }),
    (error) => error instanceof PermanentError && error.reason === 'RegistryDenied' && /Secret platform\/rebaser/.test(error.message),
  );
});

/** The old base has the layers of the new one. */
async function pushOnNewBase(): Promise<Pushed> {
  const pushed = await push();
  const { oldBase } = pushed.digests;
  return { ...pushed, digests: { ...pushed.digests, newBase: oldBase } };
}

test('a rebase waits for a registry that answers 429', async () => {
  const pushed = await push();
  proxy.fault = (method) => (method === 'POST' ? { status: 429, headers: { 'retry-after': '3600' } } : undefined);
  await assert.rejects(run(pushed), (error) => error instanceof WaitError && error.reason === 'RegistryThrottled');
});

describe('signatures', () => {
  const action = { signingKey: { secret: 'signer', key: 'rebase.pem' } };
  const sign = (pushed: Pushed, by = signer) =>
    pushSimple({ host: registry.host, repository: pushed.order.application.source.path }, pushed.digests.application, [
      signSimple(pushed.digests.application, by),
    ]);
  const signOldBase = ({ order, digests: { oldBase } }: Pushed, by = baseSigner) =>
    pushSimple({ host: registry.host, repository: order.newBase.source.path }, oldBase, [signSimple(oldBase, by)]);

  test('an image that is signed with the key is signed again, once', async () => {
    const pushed = await push();
    await sign(pushed);
    await signOldBase(pushed);
    const result = await run(pushed, { action });
    assert.ok('tag' in result, JSON.stringify(result));
    assert.deepEqual(await run(pushed, { action }), result);
    const [client] = clients;
    assert.ok(client);
    const { source } = pushed.order.application;
    const key = readPublicKey('key', pemOf(signer));
    const found = findSignatures(source, result.digest, { registry: client, signal, now: Date.now });
    assert.equal((await verifySignatures(found, result.digest, { keys: [key], signers: [] })).kind, 'verified');
    const signatures = await client.readManifest(source, `${result.digest.replace(':', '-')}.sig`);
    assert.equal((JSON.parse(String(signatures?.bytes)) as { layers: unknown[] }).layers.length, 1);
  });

  test('an image is not signed on a base that the policy does not verify, unless that is allowed', async () => {
    const pushed = await push();
    await sign(pushed);
    const result = await run(pushed, { action, verification: null });
    assert.equal('refused' in result && result.refused.reason, 'BaseUnverified');
    assert.equal(await digestOfTag(pushed, '1.2.3-base.20261123'), null);
    const allowed = await run(pushed, { action: { ...action, allow: ['BaseUnverified'] }, verification: null });
    assert.ok('tag' in allowed, JSON.stringify(allowed));
  });

  test('an image is not signed without layers that somebody has declared to be those of the old base', async () => {
    // Whoever can push to the repository of the base pushes one that has layers of the application as well.
    const pushed = await push({ oldBase: { layers: application.layers.slice(0, -1) } });
    await sign(pushed);
    for (const by of [undefined, ecSigner()]) {
      if (by !== undefined) await signOldBase(pushed, by);
      const result = await run(pushed, { action });
      assert.equal('refused' in result && result.refused.reason, 'BaseUnverified', JSON.stringify(result));
    }
    assert.equal(await digestOfTag(pushed, '1.2.3-base.20261123'), null);
    const allowed = await run(pushed, { action: { ...action, allow: ['BaseUnverified'] } });
    assert.ok('tag' in allowed, JSON.stringify(allowed));
  });

  test('an image that somebody else has signed is refused', async () => {
    const pushed = await push();
    await sign(pushed, ecSigner());
    for (const how of [{ action }, {}]) {
      const result = await run(pushed, how);
      assert.equal('refused' in result && result.refused.reason, 'SignatureLost');
    }
    assert.equal(await digestOfTag(pushed, '1.2.3-base.20261123'), null);
  });
});
