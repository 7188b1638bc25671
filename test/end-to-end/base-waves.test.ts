/** A new base reaches all applications that are built on it, in waves, with the real controllers; a bad one does not get beyond the first wave. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { startRegistryProxy, type RegistryProxy } from '../harness/registry-proxy.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { all, basePath, observeDeployments, pushApplications, pushBase, pushUnrelated, runPods } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${`${index}`.padStart(2, '0')}`);
/** Those that are rolled out; the first two are canaries. */
const apps = names('app', 50);
const canaries = apps.slice(0, 2);
/** A canary that has a policy of its own. */
const [owned = ''] = canaries;
/** Built on the base as well, but only reported. */
const reported = names('reported', 4);
const unrelated = names('unrelated', 10);
const onBase = apps.length + reported.length;
const total = onBase + unrelated.length;

describe('the waves of a base', () => {
  let world: World;
  let service: Service;
  let proxy: RegistryProxy;
  let kubelet: ReturnType<typeof runPods>;
  let seen: Awaited<ReturnType<typeof observeDeployments>>;
  const image = (name: string, tag: string) => `${proxy.host}/shop/${name}:${tag}`;

  before(async () => {
    world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
    proxy = await startRegistryProxy(world.quiet.host);
    const { host } = proxy;
    const digest = await pushBase(host, '21.0.1');
    await pushApplications(host, [...apps, ...reported], '21.0.1', digest);
    await pushUnrelated(host, unrelated);
    kubelet = runPods(world.cluster, world.namespace);
    // What is only reported needs no pods.
    await all(apps, (name) => createDeployment(name, 1));
    await all([...reported, ...unrelated], (name) => createDeployment(name, 0));
    await waitFor('all Deployments to be out', async () => {
      const { items } = await world.cluster.request<{ items: { status: { availableReplicas?: number } }[] }>('GET', deployments());
      return items.filter(({ status }) => status.availableReplicas === 1).length === apps.length;
    });
    seen = await observeDeployments(world.cluster, world.namespace);
    service = await world.start({ registryHosts: [host] });
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      metadata: { name: 'rebaser' },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': base64({ auths: { [host]: { username: 'rebaser', password: 'x' } } }) },
    });
    await world.cluster.request('POST', policies(), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name: 'java' },
      spec: {
        image: `${host}/${basePath}`,
        select: { semver: { range: '21.x' } },
        workloads: [{ kinds: ['Deployment'] }],
        onNewBase: [{ rebase: { images: [`${host}/shop/app-*`], pushSecret: { name: 'rebaser' } } }, { report: {} }],
        waves: { maxParallel: 5, canaries: { matchLabels: { canary: 'true' } }, pause: '1s', maxFailures: 1 },
        poll: { interval: '8h' },
      },
    });
  });
  after(async () => {
    seen?.stop();
    await kubelet?.stop();
    await world.stop();
    await proxy?.stop();
  });

  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');
  const deployments = (name = '') => `/apis/apps/v1/namespaces/${world.namespace}/deployments/${name}`.replace(/\/$/, '');
  const policies = (name = '') =>
    `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');

  async function createDeployment(name: string, replicas: number): Promise<void> {
    const labels = { app: name, ...(canaries.includes(name) && { canary: 'true' }) };
    const selector = { matchLabels: { app: name } };
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c0', image: image(name, '1.2.3') }] } };
    const spec = { replicas, selector, template };
    await world.cluster.request('POST', deployments(), { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels }, spec });
  }

  async function readStatus(): Promise<BaseStatus> {
    const { status = {} } = (await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus };
    return status;
  }

  const waitForStatus = (what: string, isReached: (status: BaseStatus) => boolean) =>
    waitFor(`java: ${what}`, async () => {
      const status = await readStatus();
      if (isReached(status)) return status;
      throw new Error(JSON.stringify({ ...status, dependents: status.dependents?.slice(0, 3) }, null, 1));
    });

  const announceBase = async (version: string) => {
    const digest = await pushBase(proxy.host, version);
    const { status } = await deliver(service, harborBody(proxy.host, basePath, [{ tag: version }]));
    assert.equal(status, 202);
    return digest;
  };

  const runningImages = async () => {
    const found = await world.listDeployments();
    return new Map(found.map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0]?.image ?? '']));
  };

  const isOut =
    (digest: string) =>
    ({ latest, waves, images }: BaseStatus) =>
      latest?.digest === digest && waves?.base === digest && waves.pending + waves.progressing === 0 && images?.behind === reported.length;

  const assertOnlyApplicationsChanged = () => {
    assert.equal(seen.error, undefined);
    assert.deepEqual(
      seen.changes.filter(({ name }) => !apps.includes(name)),
      [],
    );
  };

  /** After the last image is rebased, no step reads the base or an application again: what is requested is about the images that were rolled out. */
  function assertCost(requests: RegistryProxy['requests']): void {
    const isTag = ({ method, path }: (typeof requests)[number]) => method === 'PUT' && /\/manifests\/1\.2\.3-base\.\d{8}$/.test(path);
    assert.equal(requests.filter(isTag).length, apps.length, 'each tag is pushed once');
    const during = requests.slice(requests.findLastIndex(isTag) + 1);
    const again = during.filter(
      ({ method, path }) => path.startsWith(`/v2/${basePath}/`) || (method !== 'HEAD' && path.endsWith('/manifests/1.2.3')),
    );
    // A job that is repeated asks for the base once more.
    assert.ok(again.length <= 8, JSON.stringify(again));
    const reads = during.filter(({ method, path }) => method === 'GET' && path.includes('/blobs/')).map(({ path }) => path);
    assert.equal(new Set(reads).size, reads.length, 'no configuration is read twice');
    const ofBase = requests.filter(({ method, path }) => method === 'GET' && path.startsWith(`/v2/${basePath}/blobs/`));
    assert.ok(ofBase.length <= 12, `${ofBase.length} reads of what the bases contain`);
    assert.ok(requests.length < 60 * apps.length, `${requests.length} requests`);
  }

  /** What was rolled out, and failed, is not the change of the application's own policy, which neither rolls back nor rejects anything. */
  async function assertOwnPolicyRests(): Promise<void> {
    await world.cluster.request('PATCH', world.policyPath(owned), {
      metadata: { annotations: { 'operator.technomad.dev/requested-at': new Date().toISOString() } },
    });
    const status = await waitFor('the own policy to be reconciled', async () => {
      const policy = await world.cluster.request<{
        metadata: { annotations: Record<string, string> };
        status: { lastHandledRequest?: string };
      }>('GET', world.policyPath(owned));
      const isHandled = policy.status.lastHandledRequest === policy.metadata.annotations['operator.technomad.dev/requested-at'];
      return isHandled && world.readStatus(owned);
    });
    assert.deepEqual([status.history, status.rejected], [undefined, undefined]);
    assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.reason, 'UpToDate');
  }

  it('begin with the canaries, never exceed maxParallel, and end with all images on the new base', async () => {
    const first = await waitForStatus('all images are examined', ({ images }) => images?.total === total);
    // Its own policy goes on selecting 1.2.3.
    await world.createPolicy(owned, image(owned, '').slice(0, -1), { strategy: 'SemVer' }, { rollout: { onFailure: 'Rollback' } });
    await world.waitForCondition(owned, 'Ready', 'UpToDate');
    assert.deepEqual(first.images, { total, current: onBase, behind: 0, otherLine: 0, unknown: 0, unrelated: unrelated.length });
    const before = proxy.requests.length;
    const digest = await announceBase('21.0.2');
    const status = await waitForStatus('21.0.2 is out', isOut(digest));
    assertCost(proxy.requests.slice(before));
    assertOnlyApplicationsChanged();
    assert.ok(seen.most <= 5, `${seen.most} were rolling out at the same time`);
    const order = seen.changes.map(({ name }) => name);
    assert.deepEqual(order.slice(0, 2).toSorted(), canaries);
    assert.deepEqual(order.toSorted(), apps, 'each is changed once');
    for (const { name, besides } of seen.changes.slice(2))
      assert.ok(!besides.some((one) => canaries.includes(one)), `${name} beside a canary`);
    const running = await runningImages();
    for (const name of apps) assert.match(running.get(name)?.replace(image(name, ''), '') ?? '', /^1\.2\.3-base\.\d{8}$/);
    assert.deepEqual(status.images, {
      total,
      current: apps.length,
      behind: reported.length,
      otherLine: 0,
      unknown: 0,
      unrelated: unrelated.length,
      reported: reported.length,
    });
    const { pending, progressing, done, failed } = status.waves ?? {};
    assert.deepEqual({ pending, progressing, done, failed }, { pending: 0, progressing: 0, done: apps.length, failed: 0 });
    const [entry] = status.history ?? [];
    assert.deepEqual([entry?.digest, entry?.updated, entry?.failed, entry?.result], [digest, apps.length, 0, 'Selected']);
    assert.equal((await world.listPolicies()).length, apps.length + 1, 'each application has one child');
    await assertOwnPolicyRests();
  });

  /** From here on, ten are rolled out, three at a time. */
  const few = apps.slice(0, 10);

  it('end with the canaries if the base is bad, which is rejected, and the canaries are rolled back', async () => {
    const patch = {
      onNewBase: [{ rebase: { images: [`${proxy.host}/shop/app-0*`], pushSecret: { name: 'rebaser' } } }, { report: {} }],
      waves: { maxParallel: 3, canaries: { matchLabels: { canary: 'true' } }, pause: '1s', maxFailures: 1 },
    };
    await world.cluster.request('PATCH', policies('java'), { spec: patch });
    const former = await runningImages();
    const good = new Set(former.values());
    kubelet.crashes = (one) => !good.has(one);
    seen.clear();
    const digest = await announceBase('21.0.3');
    await waitFor('the first change', () => seen.changes.length > 0, { intervalMs: 10 });
    await service.kill9();
    await service.restart();
    const status = await waitForStatus('21.0.3 is rejected', ({ rejected = [] }) => rejected.some((one) => one.digest === digest));
    // The base may be rejected for the first canary before the second one is changed, as on a busy machine.
    await waitFor('the canaries to run their former images', async () => {
      const running = await runningImages();
      return seen.changes.length > 0 && canaries.every((name) => running.get(name) === former.get(name));
    });
    assertOnlyApplicationsChanged();
    assert.match(status.rejected?.[0]?.message ?? '', /Deployment .*app-0[01]: /);
    const ended = await waitForStatus('nothing is under way', ({ waves }) => {
      return waves !== undefined && waves.failed > 0 && waves.pending + waves.progressing === 0;
    });
    assert.deepEqual([ended.history?.[0]?.digest, ended.history?.[0]?.result], [digest, 'Rejected']);
    const ready = ended.conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'BaseRejected']);
    for (const { name } of seen.changes) assert.ok(canaries.includes(name), `${name} was changed`);
    assert.deepEqual(await runningImages(), former);
    await assertLeftBehind();
    await assertOwnPolicyRests();
  });

  /** The tags of each application after the bad base. */
  const left = new Map<string, number>();

  /** A bad base leaves images in the repositories of the canaries and, at most, of the next wave, and each is marked. This registry deletes no tags. */
  async function assertLeftBehind(): Promise<void> {
    await waitFor('all that was rebased to be marked', async () => {
      const { dependents = [] } = await readStatus();
      const isMarked = (name: string) =>
        dependents.some(
          ({ image, message }) =>
            image.includes(`/shop/${name}:`) && /is marked as rejected, and its registry keeps it/.test(message ?? ''),
        );
      for (const name of few) left.set(name, (await readTags(name)).length);
      return few.every((name) => left.get(name) === (isMarked(name) ? 3 : 2)) && canaries.every(isMarked);
    });
    for (const name of few.slice(canaries.length + 3)) assert.equal(left.get(name), 2, `${name} was not rebased`);
  }

  async function readTags(name: string): Promise<string[]> {
    const { tags } = (await (await fetch(`http://${proxy.host}/v2/shop/${name}/tags/list`)).json()) as { tags: string[] };
    return tags.filter((tag) => tag.startsWith('1.2.3'));
  }

  it('continue with the next base, and are the same when the service is killed again and again', async () => {
    kubelet.crashes = () => false;
    const before = seen.changes.length;
    assert.ok(before <= 2 * canaries.length);
    seen.clear();
    const digest = await announceBase('21.0.4');
    const moments: [string, () => boolean | Promise<boolean>][] = [
      ['the base is selected', async () => (await readStatus()).latest?.digest === digest],
      ['the first change', () => seen.changes.length > 0],
      ['the second wave', () => seen.changes.length > 3],
      ['the last wave', () => seen.changes.length > 8],
    ];
    for (const [what, isReached] of moments) {
      await waitFor(what, isReached, { intervalMs: 10 });
      await service.kill9();
      await service.restart();
    }
    const isDone = ({ latest, waves }: BaseStatus) => latest?.digest === digest && waves?.base === digest && waves.done === few.length;
    const status = await waitForStatus('21.0.4 is out', isDone);
    assertOnlyApplicationsChanged();
    assert.deepEqual(seen.changes.map(({ name }) => name).toSorted(), few, 'each is changed once');
    assert.ok(seen.most <= 3, `${seen.most} were rolling out at the same time`);
    assert.deepEqual([status.waves?.failed, status.history?.[0]?.updated, status.history?.[0]?.failed], [0, few.length, 0]);
    for (const name of few) {
      const tags = await readTags(name);
      assert.equal(tags.length, (left.get(name) ?? 0) + 1, `${tags.join()}: one for each base that came to it`);
    }
  });

  it("leave newer versions to the application's own ImagePolicy, and bring them to the base", async () => {
    const [name = ''] = few.slice(2);
    const rebased = (await runningImages()).get(name) ?? '';
    seen.clear();
    await world.createPolicy(name, image(name, '').slice(0, -1), { strategy: 'SemVer' }, { rollout: { onFailure: 'Rollback' } });
    await world.waitForCondition(name, 'Ready', 'UpToDate');
    assert.equal((await runningImages()).get(name), rebased);
    await pushApplications(proxy.host, [name], '21.0.1', '', '1.2.4');
    await deliver(service, harborBody(proxy.host, `shop/${name}`, [{ tag: '1.2.4' }]));
    await waitFor('1.2.4 to be on the new base', () => /1\.2\.4-base\.\d{8}$/.test(seen.changesOf(name).at(-1) ?? ''));
    assert.equal(seen.changesOf(name)[0], image(name, '1.2.4'));
    assert.equal(seen.changesOf(name).length, 2);
    await waitForStatus('it is out', ({ waves }) => waves !== undefined && waves.pending + waves.progressing === 0);
    await waitFor('the child for 1.2.3 to be gone', async () => {
      const { items } = await world.cluster.request<{ items: { spec: { image: string; select: { replace?: { from: string } } } }[] }>(
        'GET',
        world.policyPath('').slice(0, -1),
      );
      const replaced = items.filter(({ spec }) => spec.image.endsWith(name)).flatMap(({ spec }) => spec.select.replace?.from ?? []);
      return replaced.join() === '1.2.4';
    });
    assert.deepEqual(
      (await world.readStatus(name)).history?.map(({ tag }) => tag),
      ['1.2.4'],
    );
    assert.equal((await world.condition(name, 'Ready'))?.reason, 'UpToDate');
    assertOnlyApplicationsChanged();
  });

  it('do not begin if the rules of rebases refuse the base', async () => {
    seen.clear();
    await world.cluster.request('PATCH', policies('java'), { spec: { select: { semver: { range: '22.x' } } } });
    const digest = await announceBase('22.0.0');
    const status = await waitForStatus('22.0.0 is refused', ({ latest, dependents = [] }) => {
      return latest?.digest === digest && dependents.some(({ state }) => state === 'Refused');
    });
    const refused = status.dependents?.find(({ state }) => state === 'Refused');
    assert.equal(refused?.reason, 'MajorVersionChanged');
    assert.match(refused?.message ?? '', /the version of the base changes from "21\.0\.4" to "22\.0\.0"/);
    assert.deepEqual(seen.changes, []);
  });
});
