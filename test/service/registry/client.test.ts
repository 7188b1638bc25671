import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import type { Credential } from '../../../src/service/registry/credential.ts';
import { pushImage, pushIndex } from '../../harness/push-image.ts';
import { startRegistry } from '../../harness/registry.ts';
import { startTokenServer } from '../../harness/token-server.ts';
import { offering } from './start-world.ts';

test('the client with a real registry', async (t) => {
  const registry = await startRegistry();
  t.after(() => registry.stop());
  const { host } = registry;
  const requests: string[] = [];
  const client = createRegistryClient({
    registries: [{ host, insecure: true }],
    allowedRegistries: [host],
    credentials: () => [],
    onRequest: ({ host: asked, kind, status, durationMs }) => {
      assert.equal(asked, host);
      assert.ok(durationMs >= 0);
      requests.push(`${kind} ${status}`);
    },
  });
  t.after(() => client.close());
  const repository = { registry: host, path: 'team/app' };

  await t.test('returns undefined for what does not exist', async () => {
    assert.equal(await client.headManifest(repository, '1.0.0'), undefined);
    assert.equal(await client.listTags(repository), undefined);
  });

  await t.test('returns the digest of an image and of an index', async () => {
    const image = await pushImage({ host, repository: 'team/app', tag: '1.0.0' });
    assert.deepEqual(await client.headManifest(repository, '1.0.0'), image);
    const index = await pushIndex({ host, repository: 'team/app', tag: '1.1.0' });
    assert.deepEqual(await client.headManifest(repository, '1.1.0'), index);
  });

  await t.test('notices a moved tag in one request', async () => {
    const moved = await pushImage({ host, repository: 'team/app', tag: '1.0.0', content: 'another' });
    requests.length = 0;
    assert.equal((await client.headManifest(repository, '1.0.0'))?.digest, moved.digest);
    assert.deepEqual(requests, ['manifest 200']);
  });

  await t.test('lists tags', async () => {
    assert.deepEqual((await client.listTags(repository))?.sort(), ['1.0.0', '1.1.0']);
  });

  await t.test('returns the platforms of an image and of an index, and the types of their parts', async () => {
    const image = await client.readImage(repository, '1.0.0');
    assert.deepEqual(image?.platforms, ['linux/amd64']);
    const index = await client.readImage(repository, '1.1.0');
    assert.deepEqual(index?.platforms, ['linux/amd64', 'linux/arm64']);
    const manifest = await client.readManifest(repository, '1.0.0');
    assert.equal(manifest?.digest, image?.digest);
    assert.deepEqual(await client.readManifest(repository, image?.digest ?? ''), manifest);
    const { config } = JSON.parse(manifest?.bytes.toString() ?? '') as { config: { digest: string; size: number } };
    assert.equal((await client.readBlob(repository, config.digest, config.size))?.length, config.size);
    await assert.rejects(client.readBlob(repository, config.digest, config.size - 1), /is larger than/);
    assert.deepEqual(await client.listReferrers(repository, manifest?.digest ?? ''), []);
    const missing = `sha256:${'0'.repeat(64)}`;
    for (const nothing of [
      client.readImage(repository, missing),
      client.readManifest(repository, '9'),
      client.readBlob(repository, missing, 9),
    ])
      assert.equal(await nothing, undefined);
  });

  await t.test('works again after the registry was restarted under the open connections', async () => {
    await registry.restart();
    assert.ok(await client.headManifest(repository, '1.0.0'));
  });

  await t.test('that is down is an error that names the request and the code', async () => {
    await registry.kill9();
    await assert.rejects(client.headManifest(repository, '1.0.0'), {
      name: 'Error',
      message: `HEAD manifest of ${host}/team/app:1.0.0: cannot connect to ${host}: the connection was refused by ${host} (ECONNREFUSED); check the host and port, network policies and firewalls`,
    });
    assert.equal(requests.at(-1), 'manifest error');
  });
});

test('the client with a real registry with htpasswd', async (t) => {
  const auth = { user: 'robot', password: 'geheim-ü:1' };
  const registry = await startRegistry({ htpasswd: auth });
  t.after(() => registry.stop());
  const { host } = registry;
  const repository = { registry: host, path: 'team/app' };
  const pushed = await pushImage({ host, repository: 'team/app', tag: '1.0.0', auth });
  const right = { username: auth.user, password: auth.password };
  const clientWith = (credential: Credential | undefined) => {
    const kinds: string[] = [];
    const client = createRegistryClient({
      registries: [{ host, insecure: true }],
      allowedRegistries: [],
      credentials: offering(credential),
      onRequest: ({ kind, status }) => kinds.push(`${kind} ${status}`),
    });
    t.after(() => client.close());
    return { client, kinds };
  };

  await t.test('is read with the credential, in one request once its challenge is known', async () => {
    const { client, kinds } = clientWith(right);
    assert.equal((await client.headManifest(repository, '1.0.0'))?.digest, pushed.digest);
    assert.deepEqual(kinds, ['token 401', 'manifest 200']);
    assert.deepEqual(await client.listTags(repository), ['1.0.0']);
    assert.equal(await client.headManifest(repository, '2.0.0'), undefined);
    assert.deepEqual(kinds.slice(2), ['tags 200', 'manifest 404']);
  });

  await t.test('refuses a wrong credential permanently, with the source and the remedy', async () => {
    const { client } = clientWith({ ...right, password: 'wrong' });
    await assert.rejects(client.headManifest(repository, '1.0.0'), (error: Error) => {
      assert.ok(error instanceof PermanentError && error.reason === 'RegistryDenied');
      assert.match(
        error.message,
        /gives no access: Secret shop\/creds \(user robot\) was refused with 401; anonymous access was refused with 401\. To do: check that the/,
      );
      assert.ok(!error.message.includes('wrong'));
      return true;
    });
  });

  await t.test('refuses anonymous access', async () => {
    const { client } = clientWith(undefined);
    await assert.rejects(
      client.listTags(repository),
      /gives no access: anonymous access was refused with 401 \(UNAUTHORIZED: authentication required\)\. To do: if .* exists, provide cred/,
    );
  });
});

test('the client with a real registry with a token server', async (t) => {
  const user = { user: 'robot', password: 'geheim' };
  const tokens = await startTokenServer(user);
  t.after(() => tokens.stop());
  const registry = await startRegistry({ token: tokens.auth });
  t.after(() => registry.stop());
  const { host } = registry;
  const repository = { registry: host, path: 'team/app' };
  const auth = { token: await tokens.issue('team/app', ['pull', 'push']) };
  const pushed = await pushImage({ host, repository: 'team/app', tag: '1.0.0', auth });
  const clientWith = (...credentials: Credential[]) => {
    const kinds: string[] = [];
    const client = createRegistryClient({
      registries: [{ host, insecure: true }],
      allowedRegistries: [],
      credentials: (image) => credentials.flatMap((credential, index) => offering(credential, `Secret shop/${index}`)(image)),
      onRequest: ({ kind, status }) => kinds.push(`${kind} ${status}`),
    });
    t.after(() => client.close());
    return { client, kinds };
  };
  const right = { username: user.user, password: user.password };
  const wrong = { ...right, password: 'wrong' };

  await t.test('is read with a token, in one request once the token is there', async () => {
    const { client, kinds } = clientWith(right);
    assert.equal((await client.headManifest(repository, '1.0.0'))?.digest, pushed.digest);
    assert.deepEqual(kinds, ['token 401', 'token 200', 'manifest 200']);
    assert.deepEqual(await client.listTags(repository), ['1.0.0']);
    assert.equal(await client.headManifest(repository, '2.0.0'), undefined);
    assert.deepEqual(kinds.slice(3), ['tags 200', 'manifest 404']);
    assert.match(tokens.requests.at(-1) ?? '', /service=test-registry&scope=repository%3Ateam%2Fapp%3Apull$/);
  });

  await t.test('refuses one credential and accepts the next, which is tried first from then on', async () => {
    const { client, kinds } = clientWith(wrong, right);
    assert.ok(await client.headManifest(repository, '1.0.0'));
    assert.deepEqual(kinds, ['token 401', 'token 401', 'manifest 401', 'token 200', 'manifest 200']);
    assert.ok(await client.headManifest(repository, '1.0.0'));
    assert.deepEqual(kinds.slice(5), ['manifest 200']);
  });

  await t.test('refuses wrong credentials and anonymous access permanently', async () => {
    await assert.rejects(clientWith(wrong).client.headManifest(repository, '1.0.0'), {
      reason: 'RegistryDenied',
      message: new RegExp(
        'Secret shop/0 \\(user robot\\) was refused by the token server; anonymous access was refused by the token server',
      ),
    });
  });
});
