/** The dashboard of the real service in a real browser: two users with different rights, an approval from the push to the change, and a restart. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { isAccessible, startBrowser, type OpenBrowser } from '../dashboard/browser.ts';
import { lacksChromium } from '../harness/binaries.ts';
import { pushImage } from '../harness/push-image.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const why = await lacksChromium();

describe('the dashboard of the service', { skip: why ?? false }, () => {
  let world: World;
  let service: Service;
  let browser: OpenBrowser;
  const tokens = { editor: '', reader: '', stranger: '' };
  before(async () => {
    [world, browser] = await Promise.all([startWorld(), startBrowser()]);
    service = await world.start({
      env: { WEBHOOK_SECRET: 'end-to-end-secret', SESSION_SECRET: 'sessions outlive the process' },
      config: {
        operations: { actions: true },
        dashboard: { webhookUrl: 'https://hooks.example.com', sessionSecret: { env: 'SESSION_SECRET' } },
        receivers: [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
        registries: [{ host: world.quiet.host, insecure: true }],
      },
    });
    const apiGroups = ['operator.technomad.dev'];
    const give = async (name: keyof typeof tokens, verbs: string[], namespace?: string) => {
      const account = { name, namespace: world.namespace };
      await createAccount(world.cluster, account, [
        { ...(namespace !== undefined && { namespace }), rules: [{ apiGroups, resources: ['imagepolicies'], verbs }] },
      ]);
      tokens[name] = await tokenOf(world.cluster, account);
    };
    await give('editor', ['get', 'list', 'patch']);
    await give('reader', ['get', 'list'], world.namespace);
    await give('stranger', ['get', 'list'], await world.cluster.namespace('other'));
    const { host } = world.quiet;
    for (const name of ['web', 'api']) {
      await pushImage({ host, repository: `shop/${name}`, tag: '1.0.0', content: 'old' });
      await world.createDeployment(name, `${host}/shop/${name}:1.0.0`);
      await world.createPolicy(name, `${host}/shop/${name}`, { strategy: 'SemVer' }, { update: { mode: 'Approval' } });
      await world.waitForFirstLook(name);
    }
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  async function signIn(who: keyof typeof tokens, options: Parameters<OpenBrowser['open']>[0] = {}): Promise<[Page, BrowserContext]> {
    const context = await browser.open(options);
    const page = await context.newPage();
    await page.goto(`${service.operationsUrl}/policies`);
    await page.getByLabel('Kubernetes token').fill(tokens[who]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Policies' }).waitFor();
    return [page, context];
  }

  async function push(name: string, tag: string): Promise<void> {
    const { host } = world.quiet;
    await pushImage({ host, repository: `shop/${name}`, tag, content: tag });
    await deliver(service, harborBody(host, `shop/${name}`, [{ tag }]));
  }

  it('shows a push as it happens, and rolls it out when somebody approves it', async () => {
    const [page, context] = await signIn('editor');
    await page.getByRole('link', { name: `${world.namespace}/web` }).click();
    await page.locator('#live.on').waitFor();
    await push('web', '1.1.0');
    await page.getByRole('link', { name: 'Approve', exact: true }).click();
    await page.getByText(/^Approve 1\.1\.0@sha256:/).waitFor();
    await isAccessible(page);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/^(?:Requested|Done): Approve\./).waitFor();
    await world.waitForImage('web', `${world.quiet.host}/shop/web:1.1.0`);
    await page.locator('.timeline code', { hasText: ':1.1.0' }).first().waitFor();
    await page.locator('.timeline').getByText('harbor', { exact: true }).waitFor();
    await page.goto(`${service.operationsUrl}/events`);
    await page.locator('.events code', { hasText: '1.1.0' }).first().waitFor();
    await page.goto(`${service.operationsUrl}/setup`);
    await page.getByText('https://hooks.example.com/webhooks/harbor').waitFor();
    await context.close();
  });

  it('works without JavaScript, also for several approvals in one request and a rollback', async () => {
    const [page, context] = await signIn('editor', { javaScriptEnabled: false });
    for (const name of ['web', 'api']) {
      await push(name, '1.2.0');
      await world.waitForCondition(name, 'ApprovalRequired', 'ApprovalRequired');
    }
    await page.goto(`${service.operationsUrl}/approvals`);
    for (const one of await page.getByRole('checkbox').all()) await one.check();
    await page.getByRole('button', { name: 'Approve the chosen images' }).click();
    await page.getByText('Approve these 2 images?').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    assert.equal(await page.getByText('Requested: Approve.').count(), 2);
    for (const name of ['web', 'api']) await world.waitForImage(name, `${world.quiet.host}/shop/${name}:1.2.0`);
    // The page lists what the status has, which is written after the image, and without JavaScript it does not change by itself.
    await waitFor('the history to have the update', async () => (await world.readStatus('web')).history?.[0]?.to?.endsWith(':1.2.0'));

    await page.goto(`${service.operationsUrl}/policies/${world.namespace}/web/rollback`);
    await page.getByLabel('Roll back to').selectOption('1.1.0');
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText(/^(?:Requested|Done): Roll back\./).waitFor();
    await world.waitForImage('web', `${world.quiet.host}/shop/web:1.1.0`);
    await context.close();
  });

  it('shows and allows each user what Kubernetes allows this user', async () => {
    const [page, context] = await signIn('reader');
    await page.getByText('2 policies').waitFor();
    const suspend = `${service.operationsUrl}/policies/${world.namespace}/web/suspend`;
    await page.goto(suspend);
    await page.getByText('you have no permission for this in the namespace').waitFor();
    const refused = await context.request.post(suspend, { form: { reason: '' }, headers: { origin: service.operationsUrl } });
    assert.equal(refused.status(), 403);
    assert.match(await refused.text(), /cannot patch resource &quot;imagepolicies&quot;/);
    await page.goto(`${service.operationsUrl}/setup`);
    await page.getByText('Visible to users who may list the policies of all namespaces.').waitFor();
    await context.close();

    const [others, second] = await signIn('stranger');
    await others.getByText('0 policies').waitFor();
    const answer = await others.goto(`${service.operationsUrl}/policies/${world.namespace}/web`);
    assert.equal(answer?.status(), 403);
    assert.doesNotMatch(await others.content(), /1\.1\.0/);
    await second.close();
  });

  it('continues after a restart of the service, without another sign-in', async () => {
    const [page, context] = await signIn('editor');
    await page.getByRole('link', { name: `${world.namespace}/api` }).click();
    await page.locator('#live.on').waitFor();
    await service.restart();
    await page.locator('#live.on').waitFor();
    await push('api', '1.3.0');
    await page.getByRole('link', { name: 'Approve', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Kubernetes token').waitFor();
    await context.close();
  });

  it('is served by a process of its own, which has neither Redis nor rights in the cluster', async () => {
    const alone = await world.start({
      roles: 'web',
      redisUrl: 'redis://nowhere.invalid:6379',
      kubeconfig: '/nowhere',
      untilReady: false,
      config: { dashboard: { api: service.operationsUrl } },
    });
    const context = await browser.open();
    const page = await context.newPage();
    await page.goto(`${alone.operationsUrl}/policies/${world.namespace}/api`);
    await page.getByLabel('Kubernetes token').fill(tokens.editor);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('#live.on').waitFor();
    await page.getByRole('link', { name: 'Check now' }).click();
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText(/^(?:Requested|Done): Check now\./).waitFor();
    assert.equal((await fetch(`${alone.operationsUrl}/readyz`)).status, 200);
    await page.goto(`${alone.operationsUrl}/policies/${world.namespace}/api`);
    await page.locator('#live.on').waitFor();
    await push('api', '1.5.0');
    await page.getByText('1.5.0').first().waitFor();
    await context.close();
  });
});
