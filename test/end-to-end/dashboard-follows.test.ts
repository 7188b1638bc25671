/** Open pages of the dashboard follow what changes no policy: pods, deliveries that were refused, pushes that were ignored, and actions. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { secret, startWorld, type Service, type World } from './world.ts';

let world: World;
let service: Service;
let cookie = '';
before(async () => {
  world = await startWorld();
  service = await world.start({ config: { operations: { actions: true } } });
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'patch', 'update'] }];
  await createAccount(world.cluster, { name: 'reader', namespace: world.namespace }, [{ rules }]);
  const answer = await fetch(`${service.operationsUrl}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ token: await tokenOf(world.cluster, { name: 'reader', namespace: world.namespace }) }),
  });
  cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
});
after(() => world.stop());

/** Opens a page as a browser does, and resolves once it is connected and has read itself. `next` resolves when something is announced to it after it was called. */
async function open(path: string) {
  const leaving = new AbortController();
  const headers = { cookie };
  const page = await (await fetch(`${service.operationsUrl}${path}`, { headers })).text();
  const stream = /data-live="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(`${path} follows nothing`);
  const answer = await fetch(`${service.operationsUrl}${stream}`, { headers, signal: leaving.signal });
  assert.equal(answer.status, 200);
  let announced = 0;
  const reading = (async () => {
    for await (const chunk of answer.body ?? []) announced += Buffer.from(chunk).toString().split('event: changed').length - 1;
  })().catch(() => undefined);
  await waitFor('the page to be connected', () => Promise.resolve(announced > 0));
  return {
    /** How often something was announced to the page. */
    announced: () => announced,
    /** Resolves when the page shows this, which it reads only when something is announced to it. */
    async shows(what: RegExp) {
      let read = announced - 1;
      await waitFor(`${path} to show ${what}`, async () => {
        if (announced === read) return false;
        read = announced;
        return what.test(await (await fetch(`${service.operationsUrl}/live${path}`, { headers })).text());
      });
    },
    async stop() {
      leaving.abort();
      await reading;
    },
  };
}

const deliver = (authorization: string, body: object) =>
  fetch(`${service.publicUrl}/webhooks/harbor`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

it('shows a refused delivery on the page Setup', async () => {
  const page = await open('/setup');
  assert.equal((await deliver('wrong', {})).status, 401);
  await page.shows(/401/);
  await page.stop();
});

it('shows a push that a receiver ignored on the page of pushes', async () => {
  const page = await open('/events');
  assert.equal((await deliver(secret, { type: 'PULL_ARTIFACT' })).status, 200);
  await page.shows(/OtherEvent|PULL_ARTIFACT/);
  await page.stop();
});

it('shows an action that changes no policy on the page Activity', async () => {
  const { host } = world.quiet;
  await world.createDeployment('web', `${host}/shop/web:1.0.0`);
  await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
  await world.waitForFirstLook('web');
  const page = await open('/activity');
  const answer = await fetch(`${service.operationsUrl}/policies/${world.namespace}/web/check`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ reason: 'for the test' }),
  });
  assert.equal(answer.status, 303);
  await page.shows(/for the test/);
  await page.stop();
});

it('shows how many pods a policy should have on its page when somebody scales its workload', async () => {
  const { host } = world.quiet;
  await world.createDeployment('scaled', `${host}/shop/web:1.0.0`);
  await world.createPolicy('scaled', `${host}/shop/web`, { strategy: 'SemVer' });
  await world.waitForFirstLook('scaled');
  const page = await open(`/policies/${world.namespace}/scaled`);
  const path = (group: string, plural: string) => `/apis/${group}/namespaces/${world.namespace}/${plural}/scaled`;
  const version = async () => {
    const { metadata } = await world.cluster.request<{ metadata: { resourceVersion: string } }>(
      'GET',
      path('operator.technomad.dev/v1', 'imagepolicies'),
    );
    return metadata.resourceVersion;
  };
  // A policy that changes as well is announced anyway: then another number is tried.
  for (let replicas = 3; ; replicas++) {
    assert.ok(replicas < 12, 'the policy changes all the time');
    const [before, announced] = [await version(), page.announced()];
    await world.cluster.request('PATCH', path('apps/v1', 'deployments'), { spec: { replicas } });
    await waitFor('the pods to be announced', () => Promise.resolve(page.announced() > announced));
    await page.shows(new RegExp(`0 of ${replicas} pods`));
    if ((await version()) === before) break;
  }
  await page.stop();
});
