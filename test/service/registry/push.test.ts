/** Writes to a real registry, through a proxy that counts and injects faults. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import type { Credential } from '../../../src/service/registry/credential.ts';
import { digestOf, pushBlob } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { startTokenServer } from '../../harness/token-server.ts';
import { offering } from './start-world.ts';

const user = { username: 'pusher', password: 'secret' };
const ociManifest = 'application/vnd.oci.image.manifest.v1+json';
let registry: Registry;
let proxy: RegistryProxy;
let client: RegistryClient;
let count = 0;

before(async () => {
  registry = await startRegistry({ htpasswd: { user: user.username, password: user.password } });
  proxy = await startRegistryProxy(registry.host);
  client = clientOf(proxy.host);
});
after(async () => {
  await client.close();
  await proxy.stop();
  await registry.stop();
});
beforeEach(() => {
  count++;
  proxy.fault = () => undefined;
  proxy.onAnswer = () => {};
});

/** Reads as nobody; only what is opened for pushing has credentials. */
const clientOf = (host: string) =>
  createRegistryClient({ registries: [{ host, insecure: true }], allowedRegistries: [], credentials: () => [], random: () => 0 });
const repository = (name = 'app') => ({ registry: proxy.host, path: `push-${count}/${name}` });
const open = (credential: Credential | undefined = user, name?: string) => client.openPush(repository(name), offering(credential));
const place = (name = 'app') => ({
  host: proxy.host,
  repository: repository(name).path,
  tag: '1',
  auth: { user: user.username, password: user.password },
});
const reader = () =>
  createRegistryClient({ registries: [{ host: proxy.host, insecure: true }], allowedRegistries: [], credentials: offering(user) });

async function pushSmallImage(push: ReturnType<typeof open>, extra: object = {}) {
  const config = Buffer.from('{}');
  const digest = await push.pushBlob(config);
  const descriptor = { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: config.length };
  const manifest = { schemaVersion: 2, mediaType: ociManifest, config: descriptor, layers: [descriptor], ...extra };
  return { mediaType: ociManifest, bytes: Buffer.from(JSON.stringify(manifest)) };
}

test('a blob and a manifest are written once, and can be read', async () => {
  const push = open();
  const manifest = await pushSmallImage(push);
  const digest = await push.pushManifest(manifest);
  assert.equal(await push.pushManifest(manifest, '1.2'), digest);
  const { uploadedBytes } = push.transferred;
  assert.equal(uploadedBytes, 2 + 2 * manifest.bytes.length);
  await pushSmallImage(push);
  assert.equal(push.transferred.uploadedBytes, uploadedBytes, 'the blob was there');
  const as = reader();
  assert.deepEqual(await as.readManifest(repository(), '1.2'), { digest, ...manifest });
  assert.equal(await push.hasBlob(digestOf(Buffer.from('other'))), false);
  await as.close();
});

test('a blob of another repository is mounted without being transferred', async () => {
  const bytes = Buffer.alloc(100_000, 'layer');
  const { digest } = await pushBlob(place('base'), 'layer', bytes);
  const push = open();
  const seen = proxy.requests.length;
  assert.equal(await push.hasBlob(digest), false);
  assert.equal(await push.mountBlob(digest, repository('base')), true);
  assert.equal(await push.hasBlob(digest), true);
  const moved = proxy.requests.slice(seen).reduce((sum, { sent, received }) => sum + sent + received, 0);
  assert.ok(moved < 2_000, `${moved} bytes`);
  assert.deepEqual(push.transferred, { uploadedBytes: 0, mountedBlobs: 1 });
});

test('a blob that cannot be mounted, or is missing, is not uploaded instead', async () => {
  const { digest } = await pushBlob(place('base'), 'layer', Buffer.from('layer'));
  const push = open();
  assert.equal(await push.mountBlob(digestOf(Buffer.from('missing')), repository('base')), false);
  assert.equal(await push.mountBlob(digest, { registry: 'other.example.com', path: 'base' }), false);
  proxy.fault = (method, path) =>
    method === 'POST' && path.includes('mount=') ? { status: 202, headers: { location: '/v2/x' } } : undefined;
  assert.equal(await push.mountBlob(digest, repository('base')), false);
  assert.equal(push.transferred.mountedBlobs, 0);
});

describe('credentials for pushing', () => {
  test('are sent only to the registry, never where it redirects or accepts the upload', async () => {
    const received: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(201).end();
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const elsewhere = `http://127.0.0.1:${(other.address() as AddressInfo).port}/upload`;
    try {
      proxy.fault = (method) => (method === 'POST' ? { status: 202, headers: { location: elsewhere } } : undefined);
      await assert.rejects(open().pushBlob(Buffer.from('config')), /wants the upload at another host, 127\.0\.0\.1:\d+/);
      proxy.fault = (method) => (method === 'POST' ? { status: 202 } : undefined);
      await assert.rejects(open().pushBlob(Buffer.from('config')), /does not say where to upload to/);
      for (const status of [301, 307, 308]) {
        for (const wanted of ['POST', 'PUT']) {
          proxy.fault = (method) => (method === wanted ? { status, headers: { location: elsewhere } } : undefined);
          await assert.rejects(open().pushBlob(Buffer.from('config')), new RegExp(`registry answered ${status}`));
        }
        await assert.rejects(open().pushManifest({ mediaType: ociManifest, bytes: Buffer.from('{}') }, '1'), /registry answered/);
      }
      assert.deepEqual(received, []);
    } finally {
      other.close();
    }
  });

  test('are only the given ones, never those for reading', async () => {
    const readable = reader();
    try {
      const push = readable.openPush(repository(), () => []);
      await assert.rejects(push.pushBlob(Buffer.from('config')), (error: Error) =>
        /RegistryDenied|denied|refuse|credential/i.test(String(error)),
      );
      await assert.rejects(open({ username: 'pusher', password: 'wrong' }).pushBlob(Buffer.from('config')), /Secret shop\/creds/);
    } finally {
      await readable.close();
    }
  });

  test('get a token for pulling and pushing, and for pulling from where a blob is mounted', async () => {
    const tokens = await startTokenServer({ user: user.username, password: user.password });
    const guarded = await startRegistry({ token: tokens.auth });
    const to = clientOf(guarded.host);
    try {
      const base = { registry: guarded.host, path: 'library/base' };
      const app = { registry: guarded.host, path: 'shop/app' };
      const digest = await to.openPush(base, offering(user)).pushBlob(Buffer.from('layer'));
      const push = to.openPush(app, offering(user));
      assert.equal(await push.mountBlob(digest, base), true);
      const scopes = tokens.requests.map((url) => new URL(url, 'http://token').searchParams.getAll('scope'));
      assert.deepEqual(scopes.at(-1), ['repository:shop/app:pull,push', 'repository:library/base:pull']);
      await assert.rejects(to.openPush(app, offering(undefined)).pushBlob(Buffer.from('x')));
    } finally {
      await to.close();
      await guarded.stop();
      await tokens.stop();
    }
  });
});

describe('pushed referrers', () => {
  test('are added to the index under the tag of the digest, once, where the registry lists none', async () => {
    const push = open();
    const image = await pushSmallImage(push);
    const subject = { mediaType: image.mediaType, digest: await push.pushManifest(image), size: image.bytes.length };
    const as = reader();
    for (const artifactType of ['application/a', 'application/b', 'application/b']) {
      const referrer = await pushSmallImage(push, { artifactType, subject, annotations: { for: artifactType } });
      await push.pushReferrer(referrer, subject.digest);
    }
    const listed = await as.listReferrers(repository(), subject.digest);
    assert.deepEqual(
      listed.map(({ artifactType, annotations }) => [artifactType, annotations?.['for']]),
      [
        ['application/a', 'application/a'],
        ['application/b', 'application/b'],
      ],
    );
    await as.close();
  });

  test('need no such index where the registry confirms that it lists referrers', async () => {
    const push = open();
    const image = await pushSmallImage(push);
    const digest = await push.pushManifest(image);
    proxy.onAnswer = (headers, method) => void (method === 'PUT' && (headers['oci-subject'] = digest));
    const subject = { mediaType: image.mediaType, digest, size: image.bytes.length };
    const seen = proxy.requests.length;
    await push.pushReferrer(await pushSmallImage(push, { subject }), digest);
    assert.ok(!proxy.requests.slice(seen).some(({ path }) => path.includes('sha256-')));
  });
});

describe('a write that is interrupted', () => {
  test('is repeated when the connection closes before the answer', async () => {
    const push = open();
    let cuts = 1;
    proxy.fault = (method, path) => (method === 'PUT' && path.includes('/blobs/') && cuts-- > 0 ? 'disconnect' : undefined);
    const digest = await push.pushBlob(Buffer.from('config'));
    assert.equal(await push.hasBlob(digest), true);
  });

  test('is recognised as done if it had arrived', async () => {
    const bytes = Buffer.from('config');
    await pushBlob(place(), 'config', bytes);
    let heads = 1;
    proxy.fault = (method) => {
      if (method === 'HEAD' && heads-- > 0) return { status: 404 };
      return method === 'PUT' ? { status: 404, body: '{"errors":[{"code":"BLOB_UPLOAD_UNKNOWN"}]}' } : undefined;
    };
    assert.equal(await open().pushBlob(bytes), digestOf(bytes));
  });

  test('fails when the registry claims another digest', async () => {
    const push = open();
    const image = await pushSmallImage(push);
    proxy.onAnswer = (headers, method) => void (method === 'PUT' && (headers['docker-content-digest'] = digestOf(Buffer.from('other'))));
    await assert.rejects(push.pushManifest(image, '1'), /the digest is sha256/);
  });
});

describe('the confirmation before writes', () => {
  test('is asked for immediately before each write, even a repeated one, and not for reads', async () => {
    const confirmed: number[] = [];
    const confirm = () => Promise.resolve(void confirmed.push(proxy.requests.length));
    const push = client.openPush(repository(), offering(user), confirm);
    let cuts = 1;
    proxy.fault = (method) => (method === 'PUT' && cuts-- > 0 ? 'disconnect' : undefined);
    const seen = proxy.requests.length;
    await push.pushBlob(Buffer.from('config'));
    const writes = proxy.requests.flatMap(({ method }, index) => (index >= seen && (method === 'POST' || method === 'PUT') ? [index] : []));
    assert.equal(writes.length, 3);
    assert.deepEqual(confirmed, writes);
  });

  test('that is refused during the wait for a slot prevents the request, and is no fault of the registry', async () => {
    const one = createRegistryClient({
      registries: [{ host: proxy.host, insecure: true, concurrency: 1 }],
      allowedRegistries: [],
      credentials: () => [],
    });
    const [released, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isSuspended = false;
    const confirm = async () => {
      if (isSuspended) throw new Error('suspended meanwhile');
    };
    const push = one.openPush(repository(), offering(user), confirm);
    const image = await pushSmallImage(push);
    proxy.hold = (method) => {
      if (method !== 'HEAD') return undefined;
      reached.resolve();
      return released.promise;
    };
    try {
      const occupying = push.hasBlob(digestOf(Buffer.from('{}')));
      await reached.promise;
      const seen = proxy.requests.length;
      const pushing = push.pushManifest(image, '1');
      isSuspended = true;
      released.resolve();
      await assert.rejects(pushing, /^Error: suspended meanwhile$/);
      await occupying;
      assert.equal(proxy.requests.length, seen);
      isSuspended = false;
      await push.pushManifest(image, '1');
    } finally {
      proxy.hold = () => undefined;
      await one.close();
    }
  });
});

test('a manifest or blob that is too large, or an invalid tag, is not sent', async () => {
  const push = open();
  const seen = proxy.requests.length;
  const large = Buffer.alloc(4 * 1024 * 1024 + 1);
  await assert.rejects(push.pushBlob(large), RangeError);
  await assert.rejects(push.pushManifest({ mediaType: ociManifest, bytes: large }), RangeError);
  await assert.rejects(push.pushManifest({ mediaType: ociManifest, bytes: Buffer.from('{}') }, '../x'), RangeError);
  assert.equal(proxy.requests.length, seen);
});
