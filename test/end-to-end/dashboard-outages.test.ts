/** The dashboard while Redis or the API server is away: it shows what it remembers, says so, and recovers by itself. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OwnControlPlane, startControlPlane } from '../harness/control-plane.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { startWorld, type Service, type World } from './world.ts';

describe('the dashboard without Redis or the API server', () => {
  let cluster: OwnControlPlane;
  let world: World;
  let service: Service;
  let cookie = '';
  before(async () => {
    cluster = await startControlPlane({ fsync: false });
    world = await startWorld({ cluster });
    service = await world.start({ config: { operations: { actions: true } } });
    const { host } = world.quiet;
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
    await world.waitForFirstLook('web');
    const account = { name: 'reader', namespace: world.namespace };
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'patch'] }];
    await createAccount(world.cluster, account, [{ rules }]);
    const answer = await submit('/sign-in', { token: await tokenOf(world.cluster, account) });
    cookie = answer.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
  });
  after(() => world.stop());

  const submit = (path: string, form: Record<string, string>) =>
    fetch(`${service.operationsUrl}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams(form),
    });
  const read = async (path: string, language = 'en') => {
    const answer = await fetch(`${service.operationsUrl}${path}`, { headers: { cookie, 'accept-language': language }, redirect: 'manual' });
    return { status: answer.status, text: await answer.text() };
  };
  const pages = () => ['/', '/policies', `/policies/${world.namespace}/web`, '/approvals', '/images', '/bases'];

  /** The stream also says that other things have changed, such as what the checks of the installation have found. */
  const waitForBanner = () => waitFor('the banner', async () => (await read('/')).text.includes('class="outages"'));

  /** Follows the stream of a page; `changes` says how often it was told that something has changed. */
  async function follow() {
    const leaving = new AbortController();
    const answer = await fetch(`${service.operationsUrl}/stream`, { headers: { cookie }, signal: leaving.signal });
    assert.equal(answer.status, 200);
    let changes = 0;
    const reading = (async () => {
      for await (const chunk of answer.body ?? []) changes += Buffer.from(chunk).toString().split('event: changed').length - 1;
    })().catch(() => undefined);
    return {
      changes: () => changes,
      async stop() {
        leaving.abort();
        await reading;
      },
    };
  }

  it('shows the policies without Redis, with one banner, until Redis is back', async () => {
    const stream = await follow();
    await waitFor('the stream to be read', () => Promise.resolve(stream.changes() > 0));
    for (const path of pages()) assert.deepEqual([path, (await read(path)).status], [path, 200]);
    assert.doesNotMatch((await read('/')).text, /class="outages"/);
    await waitFor('the push to be in the record', async () => (await read('/events')).text.includes('shop/web'));
    let before = stream.changes();
    await world.redis.kill9();
    await waitFor('the stream to say that something has changed', () => Promise.resolve(stream.changes() > before));
    await waitForBanner();
    for (const path of pages()) {
      const { status, text } = await read(path);
      assert.equal(status, 200, path);
      assert.equal(text.split('class="outages"').length, 2, path);
      assert.match(text, /Redis does not answer, since.*Policies and causes are current/s, path);
    }
    assert.match((await read('/policies')).text, /web<\/a>/);
    assert.match((await read('/live/policies', 'zh-CN')).text, /Redis 没有响应/);
    // Nobody has opened these pages before: what they show was read in the background.
    for (const path of ['/events', '/activity', '/setup']) {
      const { status, text } = await read(path);
      assert.equal(status, 200, path);
      assert.match(text, /class="outages".*From memory: what came later is missing\. As of <time/s, path);
    }
    assert.match((await read('/events')).text, /shop\/web/);
    assert.match((await read('/setup')).text, /webhooks\/harbor/);
    before = stream.changes();
    await world.redis.restart();
    await waitFor('the stream to say that something has changed', () => Promise.resolve(stream.changes() > before));
    await waitFor('the banner to be gone', async () => !(await read('/')).text.includes('class="outages"'));
    for (const path of ['/events', '/activity', '/setup']) {
      const isBack = async () => !/From memory|role="alert"/.test((await read(path)).text);
      await waitFor(`${path} to be read from Redis`, isBack);
    }
    await stream.stop();
  });

  it('shows the last known policies without the API server, and reports that an action fails', async () => {
    const stream = await follow();
    await waitFor('the stream to be read', () => Promise.resolve(stream.changes() > 0));
    for (const path of pages()) assert.deepEqual([path, (await read(path)).status], [path, 200]);
    let before = stream.changes();
    await cluster.apiServer.kill9();
    await waitFor('the stream to say that something has changed', () => Promise.resolve(stream.changes() > before));
    await waitForBanner();
    for (const path of pages()) {
      const { status, text } = await read(path);
      assert.equal(status, 200, `${path}: ${text}`);
      assert.match(text, /The API server does not answer\. Policies are shown as of.*Pushes are still accepted/s, path);
    }
    assert.match((await read(`/policies/${world.namespace}/web`)).text, /web:1\.0\.0/);
    const refused = await submit(`/policies/${world.namespace}/web/check`, {});
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /role="alert">the API server does not answer/);
    const stranger = await fetch(`${service.operationsUrl}/sign-in`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ token: 'unknown' }),
    });
    assert.equal(stranger.status, 503);
    before = stream.changes();
    await cluster.apiServer.restart();
    await waitFor('the stream to say that something has changed', () => Promise.resolve(stream.changes() > before), { timeoutMs: 60_000 });
    await waitFor('the banner to be gone', async () => !(await read('/')).text.includes('class="outages"'), { timeoutMs: 60_000 });
    assert.equal((await submit(`/policies/${world.namespace}/web/check`, {})).status, 303);
    await stream.stop();
  });
});
