/** Lists with pages, behind redirects and proxies. */
import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { fakeDigest, startFakeRegistry } from '../../harness/fake-registry.ts';
import { offering } from './start-world.ts';

const everythingIsHere: LookupFunction = (_hostname, { all }, callback) =>
  all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
const digest = fakeDigest('a');
const entry = (digit: string) => ({ mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: fakeDigest(digit), size: 2 });

/** A registry that wants a password and redirects its lists to another host, which answers to everybody. */
async function startRedirected(t: TestContext) {
  const [registry, mirror] = [await startFakeRegistry(), await startFakeRegistry()];
  const host = registry.host.replace('127.0.0.1', 'registry.example');
  const client = createRegistryClient({
    registries: [{ host, insecure: true }],
    allowedRegistries: [],
    credentials: offering({ username: 'me', password: 'secret' }),
    lookup: everythingIsHere,
  });
  t.after(() => Promise.all([registry.stop(), mirror.stop(), client.close()]));
  registry.requireBasic({ user: 'me', password: 'secret' });
  const mirrorHost = mirror.host.replace('127.0.0.1', 'mirror.example');
  const redirect = (path: string) =>
    registry.answerNext({ status: 307, headers: { location: `http://${mirrorHost}${path}` } }, { path: '/v2/app/' });
  return { registry, mirror, host, mirrorHost, client, redirect, repository: { registry: host, path: 'app' } };
}

const links: [name: string, link: (mirrorHost: string) => string][] = [
  ['relative', () => '/v2/prod/images/app/tags/list?last=a'],
  ['a query only', () => '?last=a'],
  ['absolute', (mirrorHost) => `http://${mirrorHost}/v2/prod/images/app/tags/list?last=a`],
  ['absolute, without the port', (mirrorHost) => `https://${mirrorHost.replace(/:\d+$/, '')}/v2/prod/images/app/tags/list?last=a`],
];
for (const [name, link] of links) {
  test(`the next page of a redirected list of tags is read where the first one was, without credentials (link: ${name})`, async (t) => {
    const { mirror, mirrorHost, client, redirect, repository } = await startRedirected(t);
    redirect('/v2/prod/images/app/tags/list');
    mirror.answerNext({ body: '{"tags":["a"]}', headers: { link: `<${link(mirrorHost)}>; rel="next"` } });
    mirror.answerNext({ body: '{"tags":["b"]}' }, { path: '/v2/prod/images/app/tags/list?last=a' });
    assert.deepEqual(await client.listTags(repository), ['a', 'b']);
    assert.deepEqual(
      mirror.requests.map(({ authorization }) => authorization),
      [undefined, undefined],
    );
  });
}

test('the next page of redirected referrers is read where the first one was, without credentials', async (t) => {
  const { mirror, client, redirect, repository } = await startRedirected(t);
  redirect(`/v2/prod/app/referrers/${digest}`);
  const page = (digit: string) => ({ body: JSON.stringify({ schemaVersion: 2, manifests: [entry(digit)] }) });
  mirror.answerNext({ ...page('b'), headers: { link: '<?page=2>; rel="next"' } });
  mirror.answerNext(page('c'), { path: `/v2/prod/app/referrers/${digest}?page=2` });
  const found = await client.listReferrers(repository, digest);
  assert.deepEqual(
    found.map((one) => one.digest),
    [fakeDigest('b'), fakeDigest('c')],
  );
  assert.deepEqual(
    mirror.requests.map(({ authorization }) => authorization),
    [undefined, undefined],
  );
});

test('a missing or refused page behind a redirect is a retryable error, not a statement about the repository', async (t) => {
  for (const status of [404, 401, 403]) {
    const { mirror, client, redirect, repository } = await startRedirected(t);
    redirect('/v2/prod/app/tags/list');
    mirror.answerNext({ body: '{"tags":["a"]}', headers: { link: '<?last=a>; rel="next"' } });
    mirror.answerNext({ status });
    await assert.rejects(client.listTags(repository), { name: 'Error', message: new RegExp(`registry answered ${status}$`) });
  }
});

test('the next page behind a redirect may be at the registry again, and nowhere else', async (t) => {
  const { registry, mirror, host, client, redirect, repository } = await startRedirected(t);
  redirect('/v2/prod/app/tags/list');
  mirror.answerNext({ body: '{"tags":["a"]}', headers: { link: `<http://${host}/v2/app/tags/list?last=a>; rel="next"` } });
  registry.answerNext({ body: '{"tags":["b"]}' }, { path: '/v2/app/tags/list?last=a' });
  assert.deepEqual(await client.listTags(repository), ['a', 'b']);
  redirect('/v2/prod/app/tags/list');
  mirror.answerNext({ body: '{"tags":["a"]}', headers: { link: '<http://third.example/v2/app/tags/list>; rel="next"' } });
  await assert.rejects(client.listTags(repository), /leads to another host, third\.example$/);
});

const rewritten: [name: string, origin: string][] = [
  ['without the port', 'http://registry.example'],
  ['without the port, with https', 'https://registry.example'],
  ['with the port behind the proxy', 'http://registry.example:8081'],
  ['with the name behind the proxy', 'http://nexus.internal:8081'],
];
for (const [name, origin] of rewritten) {
  test(`of a link that a proxy has rewritten (${name}) only path and query are used, at the registry itself`, async (t) => {
    const { registry, client, repository } = await startRedirected(t);
    const link = `${origin}/v2/app/tags/list?last=a&n=1000`;
    registry.answerNext({ body: '{"tags":["a"]}', headers: { link: `<${link}>; rel="next"` } }, { path: '/v2/app/' });
    registry.answerNext({ body: '{"tags":["b"]}' }, { path: '/v2/app/tags/list?last=a&n=1000' });
    assert.deepEqual(await client.listTags(repository), ['a', 'b']);
    assert.equal(registry.requests.at(-1)?.authorization, `Basic ${btoa('me:secret')}`);
    registry.answerNext({ body: '{"tags":["a"]}', headers: { link: `<${link}>; rel="next"` } }, { path: '/v2/app/' });
    registry.answerNext({ status: 404 }, { path: '/v2/app/tags/list?last=a&n=1000' });
    await assert.rejects(client.listTags(repository), { name: 'Error', message: /registry answered 404$/ });
  });
}
