/** Bases through the API of the real service: who sees what by RBAC, the whole list of dependents in every replica, and an approved base that is rejected. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { after, before, describe, it } from 'node:test';
import { Redis as RedisClient } from 'ioredis';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { isAccessible, startBrowser } from '../dashboard/browser.ts';
import { lacksChromium } from '../harness/binaries.ts';
import { createAccount, giveGrants, tokenOf } from '../harness/service-account.ts';
import { inParallel } from '../../src/core/async/in-parallel.ts';
import { activityReads } from '../../src/service/api/activity-view.ts';
import type { BaseDetail, DependentView } from '../../src/service/api/base-view.ts';
import { resend } from '../harness/resend.ts';
import { waitFor } from '../harness/wait-for.ts';
import { basePath, pushApplications, type Pushed } from '../bases/recognize/applications.ts';
import { startWorld, type Service, type World } from './world.ts';

interface Answer extends Partial<BaseDetail> {
  readonly detail?: string;
  readonly bases?: readonly { readonly name: string }[];
  readonly dependents?: readonly DependentView[];
  readonly isComplete?: boolean;
  readonly next?: string;
  readonly versions?: readonly { readonly tags: readonly string[]; readonly isLatest: boolean; readonly images: number }[];
  readonly features?: readonly string[];
}

const noBrowser = await lacksChromium();
const who = ['reader', 'viewer', 'approver', 'stranger', 'policies', 'platform'] as const;
type Who = (typeof who)[number];

describe('bases in the API', () => {
  let world: World;
  let service: Service;
  let replica: Service;
  let pushed: Pushed;
  let image: (path: string) => string;
  const tokens = {} as Record<Who, string>;

  before(async () => {
    world = await startWorld();
    const { host } = world.registry;
    image = (path) => `${host}/${path}`;
    pushed = await pushApplications(host);
    const config = { operations: { actions: true } };
    [service, replica] = await Promise.all([world.start({ config }), world.start({ config })]);
    const give = async (name: Who, namespace: string, ...granted: (readonly [resources: string[], verbs: string[]])[]) => {
      const account = { name, namespace: world.namespace };
      const rules = granted.map(([resources, verbs]) => ({ apiGroups: ['operator.technomad.dev'], resources, verbs }));
      await createAccount(world.cluster, account, [{ namespace, rules }]);
      tokens[name] = await tokenOf(world.cluster, account);
    };
    const { namespace } = world;
    await give('reader', namespace, [['baseimagepolicies'], ['get', 'list']]);
    await give('viewer', namespace, [
      ['baseimagepolicies', 'baseimagerecords', 'imagepolicies'],
      ['get', 'list'],
    ]);
    await give('approver', namespace, [['baseimagepolicies'], ['get', 'patch', 'approve']]);
    await give('stranger', await world.cluster.namespace('other'), [['baseimagepolicies', 'baseimagerecords', 'imagepolicies'], ['*']]);
    await give('policies', namespace, [['imagepolicies'], ['*']]);
    await give('platform', namespace, [['baseimagepolicies'], ['get']]);
    const namespaces = { apiGroups: [''], resources: ['namespaces'], verbs: ['list'] };
    await giveGrants(world.cluster, { name: 'platform', namespace: world.namespace }, [{ rules: [namespaces] }]);
    await create('deployments', 'apps/v1', 'Deployment', 'special', {
      selector: { matchLabels: { app: 'special' } },
      template: {
        metadata: { labels: { app: 'special' } },
        spec: {
          containers: [{ name: 'main', image: `${image(behind(0).path)}@${behind(0).digest}` }],
          initContainers: [{ name: 'migrate', image: `${image(behind(1).path)}:1` }],
          volumes: [{ name: 'model', image: { reference: image('shop/model:5') } }],
        },
      },
    });
    const deploy = ({ name, path }: Pushed['applications'][number]) => world.createDeployment(name, `${image(path)}:1`);
    const plain = pushed.applications.filter(({ name }) => name !== behind(0).name && name !== behind(1).name);
    for (const result of await inParallel(plain, 8, deploy)) if (result.status === 'rejected') throw result.reason;
    const trigger = { images: ['*'], webhook: { url: 'https://ci.example.com/hook', secretRef: { name: 'ci', key: 'key' } } };
    await create('baseimagepolicies', 'operator.technomad.dev/v1', 'BaseImagePolicy', 'java', {
      image: image(basePath),
      select: { digest: { tag: '21' } },
      workloads: [{}],
      mode: 'Approval',
      onNewBase: [{ trigger }],
      poll: { interval: '8h' },
    });
  });
  after(() => world.stop());

  /** An application that is behind. */
  function behind(index: number): Pushed['applications'][number] {
    const found = pushed.applications.filter(({ expected }) => expected.startsWith('Behind'))[index];
    assert.ok(found);
    return found;
  }

  const create = (plural: string, apiVersion: string, kind: string, name: string, spec: object) =>
    world.cluster.request('POST', `/apis/${apiVersion}/namespaces/${world.namespace}/${plural}`, {
      apiVersion,
      kind,
      metadata: { name },
      spec,
    });

  const ask = (caller: Who, path: string, { body, of = service }: { body?: object; of?: Service } = {}) =>
    resend(async () => {
      const response = await fetch(`${of.operationsUrl}/api/v1${path}`, {
        headers: { authorization: `Bearer ${tokens[caller]}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer };
    });
  const java = (rest = '') => `/bases/${world.namespace}/java${rest}`;
  const waitForBase = (what: string, isReached: (found: Answer) => boolean) =>
    waitFor(`java: ${what}`, async () => {
      const { body } = await ask('reader', java());
      return isReached(body) && body;
    });

  it('shows the policy of a base to those who may get it, and to nobody else', async () => {
    const found = await waitForBase('the base waits for approval', ({ state }) => state === 'ApprovalRequired');
    assert.deepEqual([found.latest?.digest, found.onNewBase], [pushed.versions.new.digest, ['trigger', 'report']]);
    for (const rest of ['', '/dependents', '/versions'])
      for (const caller of ['stranger', 'policies'] as const)
        assert.equal((await ask(caller, java(rest))).status, 403, `${caller} ${rest}`);
    const names = async (caller: Who) => (await ask(caller, '/bases')).body.bases?.map(({ name }) => name);
    assert.deepEqual([await names('reader'), await names('stranger'), await names('policies')], [['java'], [], []]);
    assert.equal((await ask('reader', java('/versions'))).status, 403, 'records are another resource');
    const { versions = [] } = (await ask('viewer', java('/versions'))).body;
    const [latest] = versions.filter(({ isLatest }) => isLatest);
    assert.ok(latest?.tags.includes('21'));
    assert.ok(versions.some(({ isLatest, images }) => !isLatest && images > 0));
  });

  it('counts the selected namespaces without consent for those who may list namespaces', async () => {
    const other = await world.cluster.namespace('without-consent');
    const workloads = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': other } } }];
    const select = { digest: { tag: '21' } };
    await create('baseimagepolicies', 'operator.technomad.dev/v1', 'BaseImagePolicy', 'wide', {
      image: image(basePath),
      select,
      workloads,
    });
    const path = `/bases/${world.namespace}/wide`;
    const found = await waitFor('the policy to be known', async () => {
      const { status, body } = await ask('platform', path);
      return status === 200 && body;
    });
    assert.deepEqual(found.withoutConsent, { total: 1, namespaces: [other] });
    assert.equal((await ask('viewer', path)).body.withoutConsent, undefined);
    await world.cluster.request('DELETE', `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/wide`);
  });

  it('gives answers that fit its document', async () => {
    assert.deepEqual((await ask('viewer', '/caller')).body.features?.toSorted(), ['activity', 'bases', 'notify']);
    await world.createPolicy(
      'app',
      image(behind(2).path),
      { strategy: 'SemVer' },
      { targets: [{ kind: 'Deployment', name: behind(2).name }] },
    );
    for (const { method, path, answer, media } of createBaseRoutes(undefined)) {
      if (method !== 'GET' || media !== undefined) continue;
      const name = path.startsWith('/policies') ? 'app' : 'java';
      const { body } = await waitFor(path, async () => {
        const query = path === '/bases/permitted' ? `?namespaces=${world.namespace}` : '';
        const found = await ask('viewer', `${path.replace('{namespace}', world.namespace).replace('{name}', name)}${query}`);
        return found.status === 200 && found;
      });
      const read = answer.safeParse(body);
      assert.ok(read.success, `${path}: ${JSON.stringify(read.error?.issues)}`);
    }
    const chain = (await ask('viewer', `/policies/${world.namespace}/app/bases`)).body.bases;
    assert.deepEqual(
      chain?.map(({ name }) => name),
      ['java'],
    );
  });

  it('lists all dependents in pages, in every replica, also the images that can only be rebuilt or unpinned', async () => {
    const all: DependentView[] = [];
    let isComplete: boolean | undefined;
    for (let next: string | undefined = ''; next !== undefined;) {
      const { body }: { body: Answer } = await ask('reader', java(`/dependents?limit=7${next && `&after=${encodeURIComponent(next)}`}`), {
        of: all.length % 2 === 0 ? service : replica,
      });
      all.push(...(body.dependents ?? []));
      ({ next, isComplete } = body);
    }
    assert.equal(isComplete, true);
    const related = pushed.applications.filter(({ expected }) => !expected.startsWith('unrelated')).length;
    // The image volume comes besides those that are examined.
    assert.equal(new Set(all.map((one) => one.image)).size, related + 1);
    assert.equal(all.length, related + 1);
    const find = (path: string) => all.find((one) => [':', '@'].some((after) => one.image.startsWith(`${image(path)}${after}`)));
    assert.deepEqual([find(behind(0).path)?.isPinned, find(behind(0).path)?.state], [true, 'Behind']);
    assert.deepEqual(find(behind(1).path)?.uses, ['InitContainer']);
    assert.deepEqual([find('shop/model')?.state, find('shop/model')?.nextStep?.id], ['NotExamined', 'ImageVolume']);
    assert.ok(all.filter(({ state }) => state === 'Behind').every(({ nextStep }) => nextStep?.id === 'Approve'));
  });

  it('approves with the token of the caller, and rejects what was approved', async () => {
    const { pendingApproval: pending } = await waitForBase('the base waits for approval', (found) => found.pendingApproval !== undefined);
    const refused = await ask('reader', java('/approve'), { body: { ...pending } });
    assert.equal(refused.status, 403);
    assert.match(refused.body.detail ?? '', /cannot patch resource "baseimagepolicies"/);
    assert.equal((await ask('policies', java('/approve'), { body: { ...pending } })).status, 403);
    assert.equal((await ask('approver', java('/approve'), { body: { ...pending, reason: 'tested' } })).status, 202);
    const approved = await waitForBase('the rebuilds are requested', ({ status }) => (status?.requests?.length ?? 0) > 0);
    const user = `system:serviceaccount:${world.namespace}:approver`;
    assert.deepEqual(approved.requested, { action: 'approve', user, reason: 'tested' });
    assert.equal((await ask('approver', java('/reject'), { body: { ...pending, reason: 'breaks' } })).status, 202);
    const rejected = await waitForBase('the base is rejected', ({ state }) => state === 'Held');
    assert.deepEqual([rejected.reason, rejected.status?.rejected?.[0]?.message], ['RejectedByUser', `rejected by ${user}: breaks`]);
    for (const action of ['/reject', '/approve'])
      assert.equal((await ask('approver', java(action), { body: { ...pending } })).status, 409, action);
    // Both replicas have seen the approval.
    await waitFor('the activity', async () => {
      const { body } = await ask('viewer', `/activity?type=action&policy=${world.namespace}/java`);
      const { data } = activityReads.list.answer.safeParse(body);
      const asked = data?.activity.map((one) => one.type === 'action' && [one.action, one.subject.kind, one.user, one.why]);
      return isDeepStrictEqual(asked, [
        ['reject', 'BaseImagePolicy', user, 'breaks'],
        ['approve', 'BaseImagePolicy', user, 'tested'],
      ]);
    });
    assert.deepEqual((await ask('policies', '/activity?type=action')).body, { activity: [] });
  });

  it('shows the base and the chain of an application in a browser', { skip: noBrowser ?? false }, async () => {
    const browser = await startBrowser();
    try {
      const page = await (await browser.open({ javaScriptEnabled: true, viewport: { width: 1_280, height: 900 } })).newPage();
      await page.goto(`${service.operationsUrl}/bases`);
      await page.getByLabel('Kubernetes token').fill(tokens.viewer);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: `${world.namespace}/java` }).click();
      await page.getByRole('heading', { name: 'Versions over time' }).waitFor();
      const pinned = page.getByRole('table', { name: 'Images on the base' }).getByRole('row', { name: behind(0).digest });
      await pinned.getByText('pinned by digest').first().waitFor();
      await isAccessible(page);
      const folder = process.env['SCREENSHOTS'];
      if (folder !== undefined) await page.screenshot({ path: join(folder, 'base-real.png'), fullPage: true });
      await page.goto(`${service.operationsUrl}/policies/${world.namespace}/app`);
      await page.getByRole('heading', { name: 'Its bases' }).waitFor();
      await page
        .getByRole('main')
        .getByRole('link', { name: `${world.namespace}/java` })
        .waitFor();
      await isAccessible(page);
      if (folder !== undefined) await page.screenshot({ path: join(folder, 'chain-real.png'), fullPage: true });
    } finally {
      await browser.close();
    }
  });

  it('shows the first dependents without Redis, and says that there are more', async () => {
    const client = new RedisClient(world.redis.url);
    // The list of a moment ago is shown for some seconds, and a reconcile that is ending may write it once more.
    const { dependents = [] } = await waitFor('the list to be forgotten', async () => {
      await client.del('{image-watcher}:dependents:v1', '{image-watcher}:dependents:v1:times');
      const { body } = await ask('reader', java('/dependents'));
      return body.isComplete === false && body;
    });
    await client.quit();
    assert.equal(dependents.length, 21, 'those of the status, and the image volume');
    await world.cluster.request(
      'PATCH',
      `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/java`,
      { metadata: { annotations: { 'operator.technomad.dev/requested-at': 'again' } } },
      'application/merge-patch+json',
    );
    await waitForBase('the check is handled', ({ status }) => status?.lastHandledRequest === 'again');
    await waitFor('the list to be whole again', async () => (await ask('reader', java('/dependents'))).body.isComplete);
  });
});
