/**
 * Incidents, staged on real parts, as somebody sees them who opens the first page of the dashboard: the first thing there names the cause, whom it reaches, and the
 * next step, and it is gone when the incident is over. With SCREENSHOTS set to a folder, pictures of each are written there.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { fitsItsWidth, isAccessible, startBrowser, type OpenBrowser } from '../dashboard/browser.ts';
import { lacksChromium } from '../harness/binaries.ts';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all, basePath, pushApplications, pushBase, runPods } from './base-fleet.ts';
import { deliver, deliverOnce, harborBody, secret, startWorld, type Service, type World } from './world.ts';

const why = await lacksChromium();
const folder = process.env['SCREENSHOTS'];
/** The widths of a telephone, a laptop and a large screen, with the number of screens on which the causes have to be. */
const screens = [
  { width: 390, height: 844, most: 2 },
  { width: 1_280, height: 800, most: 1 },
  { width: 1_920, height: 1_080, most: 1 },
] as const;
/** Without pictures, one scheme and language suffice here: looks.test.ts has every page in all of them. */
const [schemes, locales] =
  folder === undefined
    ? ([['light'], ['en-GB']] as const)
    : ([
        ['light', 'dark'],
        ['en-GB', 'zh-CN'],
      ] as const);
const teams = ['team-a', 'team-b', 'team-c'] as const;
const group = '/apis/operator.technomad.dev/v1';

/** What the first cause of the page has to say. */
interface Expected {
  readonly urgency: string;
  /** What is wrong. */
  readonly sentence: RegExp;
  /** Whom it reaches, as the page says it. */
  readonly reach: string;
  /** The text of the button, or the command. */
  readonly step: string;
}

describe('the first page of the dashboard, in an incident,', { skip: why ?? false }, () => {
  let world: World;
  let service: Service;
  let browser: OpenBrowser;
  let page: Page;
  const kubelets: ReturnType<typeof runPods>[] = [];
  const namespaces: string[] = [];

  before(async () => {
    [world, browser] = await Promise.all([
      startWorld({ controllers: true, fsync: true, extraRules: shippedRules('work-rebase') }),
      startBrowser(),
    ]);
    await askRedis(world.redis.port, 'CONFIG SET maxmemory 512mb');
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '4.11.0', content: 'good' });
    for (const team of teams) {
      const namespace = await world.cluster.namespace(team);
      namespaces.push(namespace);
      kubelets.push(runPods(world.cluster, namespace));
      await createDeployment(namespace, 'web', `${host}/shop/web:4.11.0`);
    }
    service = await world.start({
      config: {
        cluster: { name: 'production' },
        operations: { actions: true },
        dashboard: { sessionSecret: { env: 'WEBHOOK_SECRET' } },
        receivers: [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
        registries: [{ host, insecure: true }],
      },
    });
    for (const [index, namespace] of namespaces.entries())
      await createPolicy('ImagePolicy', namespace, 'web', {
        image: `${host}/shop/web`,
        select: { semver: {} },
        targets: [{ kind: 'Deployment', name: 'web' }],
        rollout: { onFailure: index < 2 ? 'Rollback' : 'Hold' },
        poll: { interval: '8h' },
      });
    await release('4.11.1');
    await untilEach((image) => image.endsWith(':4.11.1'));
    page = await signIn();
    await firstVerdict(/^Everything goes on: 3 policies\.$/);
  });
  after(async () => {
    await browser?.close();
    for (const kubelet of kubelets) await kubelet.stop();
    await world?.stop();
  });

  async function createDeployment(namespace: string, name: string, image: string, labels: object = {}): Promise<void> {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c0', image }] } };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, labels },
      spec: { selector: { matchLabels: { app: name } }, template },
    });
  }

  async function createPolicy(kind: string, namespace: string, name: string, spec: object): Promise<void> {
    const path = `${group}/namespaces/${namespace}/${kind === 'ImagePolicy' ? 'imagepolicies' : 'baseimagepolicies'}`;
    await world.cluster.request('POST', path, { apiVersion: 'operator.technomad.dev/v1', kind, metadata: { name }, spec });
  }

  async function release(tag: string): Promise<void> {
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag, content: tag });
    assert.equal((await deliver(service, harborBody(host, 'shop/web', [{ tag }]))).status, 202);
  }

  const imageIn = async (namespace: string) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/web`;
    const { spec } = await world.cluster.request<{ spec: { template: { spec: { containers: { image: string }[] } } } }>('GET', path);
    return spec.template.spec.containers[0]?.image ?? '';
  };
  const untilEach = (isReached: (image: string) => boolean) =>
    waitFor('each team to run the image', async () => (await Promise.all(namespaces.map(imageIn))).every(isReached));

  async function signIn(): Promise<Page> {
    const account = { name: 'on-call', namespace: world.namespace };
    const resources = ['imagepolicies', 'baseimagepolicies', 'notificationtargets'];
    await createAccount(world.cluster, account, [
      { rules: [{ apiGroups: ['operator.technomad.dev'], resources, verbs: ['get', 'list', 'patch'] }] },
    ]);
    const context = await browser.open({ locale: 'en-GB', viewport: screens[1] });
    const opened = await context.newPage();
    await opened.goto(service.operationsUrl);
    await opened.getByLabel('Kubernetes token').fill(await tokenOf(world.cluster, account));
    await opened.getByRole('button', { name: 'Sign in' }).click();
    return opened;
  }

  const firstVerdict = (expected: RegExp) =>
    waitFor(`the verdict ${expected}`, async () => {
      const text = ((await page.locator('.verdict').textContent()) ?? '').trim();
      return expected.test(text) || Promise.reject(new Error(`${text}: ${(await page.locator('.causes').allTextContents()).join('; ')}`));
    });

  /** The first cause says what is expected, and every width has it within the first screen; with SCREENSHOTS, in every scheme and language. */
  async function shows(name: string, { urgency, sentence, reach, step }: Expected): Promise<void> {
    await waitFor(`the first cause to be ${sentence}`, async () => {
      const text = ((await page.locator('.cause').allTextContents())[0] ?? '').replaceAll(/\s+/g, ' ');
      const isSaid = sentence.test(text) && [urgency, reach, step].every((part) => text.includes(part));
      return isSaid || Promise.reject(new Error(await page.locator('main').innerText()));
    });
    await isAccessible(page);
    await inEachLook(name);
  }

  async function inEachLook(name: string): Promise<void> {
    const cookies = await page.context().cookies();
    for (const colorScheme of schemes)
      for (const locale of locales)
        for (const { most, ...viewport } of screens) {
          const context = await browser.open({ colorScheme, locale, viewport });
          await context.addCookies(cookies);
          const one = await context.newPage();
          await one.goto(service.operationsUrl);
          const cause = one.locator('.cause').first();
          await cause.waitFor();
          const { y, height } = (await cause.boundingBox()) ?? { y: Infinity, height: 0 };
          assert.ok(y + height <= viewport.height * most, `${name} on ${viewport.width} px ends at ${y + height}`);
          await fitsItsWidth(one);
          if (folder !== undefined) {
            mkdirSync(folder, { recursive: true });
            await one.screenshot({ path: join(folder, `incident-${name}-${viewport.width}-${colorScheme}-${locale}.png`) });
          }
          await context.close();
        }
  }

  it('shows where a bad release still runs after a rollback elsewhere, and rolls it back there', async () => {
    for (const kubelet of kubelets) kubelet.crashes = (image) => image.endsWith(':4.11.2');
    await release('4.11.2');
    await waitFor('two teams to run the image of before again', async () => {
      const running = (await Promise.all(namespaces.map(imageIn))).map((image) => image.split(':').at(-1));
      return running.join() === '4.11.1,4.11.1,4.11.2';
    });
    await shows('bad-release', {
      urgency: 'Broken',
      sentence: /shop\/web:4\.11\.2 .*rolled back on 2 workloads, still running on 1 workload/s,
      reach: '3 policies in 3 namespaces',
      step: 'Roll back',
    });
    await page.getByRole('link', { name: 'Roll back' }).first().click();
    await page.getByRole('button', { name: /^Roll back/ }).click();
    await untilEach((image) => image.endsWith(':4.11.1'));
    await page.goto(service.operationsUrl);
    await waitFor(
      'the failed image to run nowhere',
      async () => !(await page.locator('.causes').first().textContent())?.includes('still running'),
    );
    for (const kubelet of kubelets) kubelet.crashes = () => false;
    await release('4.11.3');
    await untilEach((image) => image.endsWith(':4.11.3'));
    await firstVerdict(/^Everything goes on/);
  });

  it('shows how many policies wait for a registry that is down, and offers to test it again', async () => {
    await world.quiet.kill9();
    const { host } = world.quiet;
    assert.equal((await deliver(service, harborBody(host, 'shop/web', [{ tag: '4.11.4' }]))).status, 202);
    await shows('registry-down', {
      urgency: 'Passing',
      sentence: /does not answer/,
      reach: '3 policies in 3 namespaces',
      step: 'Test again',
    });
    await world.quiet.restart();
    await release('4.11.4');
    await untilEach((image) => image.endsWith(':4.11.4'));
    await firstVerdict(/^Everything goes on/);
  });

  it('shows which receiver refuses pushes because a secret was changed only at the sender', async () => {
    const body = harborBody(world.quiet.host, 'shop/web', [{ tag: '4.11.4' }]);
    const answer = await fetch(`${service.publicUrl}/webhooks/harbor`, {
      method: 'POST',
      headers: { authorization: `${secret}-new` },
      body,
    });
    assert.equal(answer.status, 401);
    await shows('webhook-secret', {
      urgency: 'Warning',
      sentence: /The receiver harbor gets no pushes that it accepts.*not authentic/s,
      reach: '',
      step: 'Compare the secret and the URL at the sender',
    });
    assert.equal((await deliver(service, body)).status, 202);
    await firstVerdict(/^Everything goes on/);
  });

  it('shows which base image failed, and links to the images on it', async () => {
    const { host } = world.quiet;
    const digest = await pushBase(host, '21.0.1');
    const names = ['orders', 'stock'];
    await pushApplications(host, names, '21.0.1', digest);
    const [namespace = ''] = namespaces;
    await all(names, (name) => createDeployment(namespace, name, `${host}/shop/${name}:1.2.3`, { base: 'java' }));
    const auths = { [host]: { username: 'rebaser', password: 'x' } };
    await world.cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'rebaser' },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
    });
    await createPolicy('BaseImagePolicy', namespace, 'java', {
      image: `${host}/${basePath}`,
      select: { semver: { range: '21.x' } },
      workloads: [{ kinds: ['Deployment'], selector: { matchLabels: { base: 'java' } } }],
      onNewBase: [{ rebase: { pushSecret: { name: 'rebaser' } } }],
      waves: { maxParallel: 1, maxFailures: 1 },
      poll: { interval: '8h' },
    });
    await firstVerdict(/^Everything goes on/);
    kubelets[0]!.crashes = (image) => image.includes('-base.');
    await pushBase(host, '21.0.2');
    assert.equal((await deliver(service, harborBody(host, basePath, [{ tag: '21.0.2' }]))).status, 202);
    await shows('base-fails', {
      urgency: 'Blocked',
      sentence: /The base of .*java failed/,
      reach: `${namespace}/java`,
      step: 'See the images on the base',
    });
  });

  it('shows that receivers refuse pushes because Redis is full', async () => {
    await askRedis(world.redis.port, 'CONFIG SET maxmemory 1mb');
    const refused = await deliverOnce(service, harborBody(world.quiet.host, 'shop/web', [{ tag: '4.11.4' }]));
    assert.equal(refused.status, 503);
    await shows('redis-full', {
      urgency: 'Blocked',
      sentence: /Redis has too little memory.*receivers refuse pushes/s,
      reach: '',
      step: 'Do what the message says',
    });
    await askRedis(world.redis.port, 'CONFIG SET maxmemory 512mb');
    await waitFor('the cause to be gone', async () => !(await page.locator('main').innerText()).includes('Redis has too little memory'));
  });
});
