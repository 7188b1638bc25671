/** Who hears what of a new base: the team of each workload, and the platform, from two replicas of which one is killed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { Redis } from 'ioredis';
import type { Notice } from '../../src/core/model/notice.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { actionAnnotations } from '../../src/core/model/policy-actions.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { basePath, pushApplications, pushBase, runPods } from './base-fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

/** Every message that was accepted, by the path of the target. */
function startListener() {
  const messages: { readonly to: string; readonly data: Omit<Notice, 'at'> }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((event) => {
      messages.push({ to: request.url?.slice(1) ?? '', data: (event as { data: Notice }).data });
      return response.writeHead(202).end();
    });
  });
  return { server, messages };
}

describe('notices about a base', () => {
  let world: World;
  let services: readonly [Service, Service];
  let kubelet: ReturnType<typeof runPods>;
  let shop: string;
  let elsewhere: string;
  const listener = startListener();
  const digests: string[] = [];

  const apiPath = (namespace: string, plural: string) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/${plural}`;
  const policy = () => `${apiPath(world.namespace, 'baseimagepolicies')}/java`;
  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const baseOf = (version: string) => `${world.quiet.host}/${basePath}:${version}`;
  const readStatus = async () => (await world.cluster.request<{ status?: BaseStatus }>('GET', policy())).status ?? {};
  const annotate = (annotations: object) =>
    world.cluster.request('PATCH', policy(), { metadata: { annotations } }, 'application/merge-patch+json');

  async function createTarget(namespace: string, origin: string): Promise<void> {
    await world.cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'hook' },
      stringData: { url: `${origin}/${namespace}`, key: 'a-key' },
    });
    await world.cluster.request('POST', apiPath(namespace, 'notificationtargets'), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'NotificationTarget',
      metadata: { name: 'team' },
      spec: { type: 'webhook', urlSecretRef: { name: 'hook', key: 'url' }, secretRef: { name: 'hook', key: 'key' } },
    });
  }

  async function createDeployment(namespace: string, name: string, tag: string): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: image(name, tag) }] } };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    });
  }

  before(async () => {
    listener.server.listen(0, '127.0.0.1');
    await once(listener.server, 'listening');
    const origin = `http://127.0.0.1:${(listener.server.address() as AddressInfo).port}`;
    world = await startWorld({ controllers: true, extraRules: shippedRules('work-rebase') });
    const { host } = world.quiet;
    [shop, elsewhere] = [await world.cluster.namespace('shop'), await world.cluster.namespace('elsewhere')];
    await world.annotate(`/api/v1/namespaces/${shop}`, { [consentAnnotation]: world.namespace });
    const digest = await pushBase(host, '21.0.1');
    digests.push(digest);
    await pushApplications(host, ['web'], '21.0.1', digest);
    await pushApplications(host, ['api'], '21.0.1', digest, 'main');
    kubelet = runPods(world.cluster, shop);
    await createDeployment(shop, 'web', '1.2.3');
    await createDeployment(shop, 'api', 'main');
    // The same image, in a namespace that has not consented.
    await createDeployment(elsewhere, 'web', '1.2.3');
    for (const namespace of [world.namespace, shop, elsewhere]) await createTarget(namespace, origin);
    const config = {
      notifications: {
        hosts: [origin],
        targets: [{ name: 'ops', kind: 'webhook', url: { env: 'OPS_URL' }, secret: { env: 'OPS_KEY' }, insecure: true }],
      },
    };
    const options = { config, env: { WEBHOOK_SECRET: 'end-to-end-secret', OPS_URL: `${origin}/ops`, OPS_KEY: 'a-key' } };
    services = [await world.start(options), await world.start(options)];
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      metadata: { name: 'rebaser' },
      type: 'kubernetes.io/dockerconfigjson',
      data: {
        '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { [host]: { username: 'rebaser', password: 'x' } } })).toString('base64'),
      },
    });
    await world.cluster.request('POST', apiPath(world.namespace, 'baseimagepolicies'), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name: 'java' },
      spec: {
        image: `${host}/${basePath}`,
        mode: 'Approval',
        select: { semver: { range: '21.x' } },
        onNewBase: [{ rebase: { images: [`${host}/shop/*`], pushSecret: { name: 'rebaser' } } }],
        waves: { maxParallel: 5, maxFailures: 1 },
        poll: { interval: '8h' },
      },
    });
    await waitFor('both images to be current', async () => (await readStatus()).images?.current === 2);
  });
  after(async () => {
    await kubelet?.stop();
    await world.stop();
    listener.server.closeAllConnections();
    listener.server.close();
  });

  /** What a target was sent, in any order: two messages may overtake each other. */
  const sentTo = (to: string) =>
    listener.messages
      .filter((one) => one.to === to)
      .map(({ data: { kind, subject, tag, reason } }) => [kind, subject.name, tag ?? '', reason ?? ''].join(' ').trim())
      .toSorted();
  const untilSent = (to: string, expected: readonly string[]) =>
    waitFor(`${to} to be sent ${expected.join(', ')}`, () => {
      const sent = sentTo(to);
      if (expected.every((one) => sent.includes(one))) return Promise.resolve(true);
      throw new Error(JSON.stringify(sent, null, 1));
    });
  const messageTo = (to: string, kind: Notice['kind'], name: string) =>
    listener.messages.find(({ to: target, data }) => target === to && data.kind === kind && data.subject.name === name)?.data ??
    assert.fail(`${to} got no ${kind} about ${name}`);
  const announce = async (version: string) => {
    digests.unshift(await pushBase(world.quiet.host, version));
    assert.equal((await deliver(services[0], harborBody(world.quiet.host, basePath, [{ tag: version }]))).status, 202);
  };
  const checkAgain = async () => {
    const request = new Date().toISOString();
    await annotate({ [actionAnnotations.requestedAt]: request });
    await waitFor('the policy to be reconciled', async () => (await readStatus()).lastHandledRequest === request);
    await world.waitForIdleWorkers();
  };

  const [web, api] = [() => image('web', '1.2.3'), () => image('api', 'main')];
  const behind = () => [`Behind ${api()}  ApprovalRequired`, `Behind ${web()}  ApprovalRequired`];
  const announced = ['ApprovalRequired java 21.0.2 ApprovalRequired', 'Updated java 21.0.2'];

  it('tell the team that its images are behind, and the platform the counts once', async () => {
    await announce('21.0.2');
    await untilSent(shop, behind());
    await untilSent(world.namespace, announced);
    assert.deepEqual(messageTo(world.namespace, 'Updated', 'java').images, { current: 0, behind: 2, refused: 0, unknown: 0 });
    const { at: _, ...data } = messageTo(shop, 'Behind', web()) as Notice;
    assert.deepEqual(data, {
      kind: 'Behind',
      subject: { kind: 'Image', namespace: shop, name: web() },
      base: `${baseOf('21.0.2')}@${digests[0]}`,
      workloads: [`Deployment ${shop}/web`],
      reason: 'ApprovalRequired',
      nextStep: 'approve the base',
    });
  });

  it('tell the team what happens to each image, and the platform the end of the rollout and the refused images', async () => {
    await annotate({ [actionAnnotations.approve]: `21.0.2@${digests[0]}` });
    const tag = await waitFor('web to be rolled out', () => {
      const { data } = listener.messages.find(({ to, data }) => to === shop && data.kind === 'RolledOut') ?? {};
      if (data !== undefined) return Promise.resolve(data.tag);
      throw new Error(JSON.stringify(sentTo(shop)));
    });
    assert.match(tag, /^1\.2\.3-base\.\d{8}$/);
    await untilSent(shop, [`Rebased ${web()} ${tag}`, `Refused ${api()}  RebaseRefused`]);
    await untilSent(world.namespace, ['RolledOut java 21.0.2']);
    const { message = '', images } = messageTo(world.namespace, 'RolledOut', 'java');
    assert.deepEqual(images, { current: 1, behind: 1, refused: 1, unknown: 0 });
    assert.match(message, new RegExp(`; refused: ${api()} \\(RebaseRefused\\)$`));
    assert.match(messageTo(shop, 'Refused', api()).message ?? '', /^"main" names other images over time/);
    assert.equal(messageTo(shop, 'RolledOut', web()).base, `${baseOf('21.0.2')}@${digests[0]}`);
  });

  it('are not sent twice by two replicas, after a restart, or when finished jobs are lost', async () => {
    await world.waitForIdleWorkers();
    const sent = listener.messages.length;
    await checkAgain();
    await Promise.all(services.map((service) => service.kill9()));
    const client = new Redis(world.redis.url);
    const jobs = await client.keys('*:notice:*');
    assert.ok(jobs.length > sent, 'the jobs of the messages are kept for an hour');
    await client.del(...jobs);
    client.disconnect();
    await Promise.all(services.map((service) => service.restart()));
    await checkAgain();
    assert.equal(listener.messages.length, sent);
    const tag = messageTo(shop, 'RolledOut', web()).tag;
    assert.deepEqual(
      sentTo(shop),
      [...behind(), `Rebased ${web()} ${tag}`, `Refused ${api()}  RebaseRefused`, `RolledOut ${web()} ${tag}`].toSorted(),
    );
    assert.deepEqual(sentTo(world.namespace), [...announced, 'RolledOut java 21.0.2'].toSorted());
    assert.deepEqual(sentTo('ops'), sentTo(world.namespace), 'who asks for all namespaces hears of the base');
  });

  it('tell the team that its workload was rolled back, and the platform that the base is rejected', async () => {
    const good = image('web', messageTo(shop, 'RolledOut', web()).tag ?? '');
    kubelet.crashes = (one) => one.includes('/web:') && one !== good;
    await announce('21.0.3');
    await untilSent(world.namespace, ['ApprovalRequired java 21.0.3 ApprovalRequired']);
    await annotate({ [actionAnnotations.approve]: `21.0.3@${digests[0]}` });
    await waitFor('the rollback', () => Promise.resolve(sentTo(shop).some((one) => one.startsWith('RolledBack'))));
    await waitFor('the rejection', () =>
      Promise.resolve(sentTo(world.namespace).some((one) => one === 'RolloutFailed java 21.0.3 BaseRejected')),
    );
    await world.waitForIdleWorkers();
    const ofTeam = listener.messages.filter(({ to, data }) => to === shop && data.base === `${baseOf('21.0.3')}@${digests[0]}`);
    const about = ofTeam.filter(({ data }) => data.subject.name === good).map(({ data }) => data.kind);
    assert.deepEqual(about.filter((kind) => kind !== 'Behind').toSorted(), ['Rebased', 'RolledBack', 'RolloutFailed']);
    assert.deepEqual(
      sentTo(world.namespace).filter((one) => one.includes('21.0.3')),
      ['ApprovalRequired java 21.0.3 ApprovalRequired', 'RolloutFailed java 21.0.3 BaseRejected', 'Updated java 21.0.3'],
    );
  });

  it('name no workloads of other namespaces to a team', () => {
    assert.deepEqual(sentTo(elsewhere), [], 'without consent nothing is known of it');
    const team = JSON.stringify(listener.messages.filter(({ to }) => to === shop));
    assert.ok(team.includes(`${shop}/web`) && !team.includes(world.namespace) && !team.includes(elsewhere), team);
  });
});
