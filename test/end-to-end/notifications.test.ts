/** Notifications of a real service to a target that fails, while the service is killed between a notice and its status. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { runCommand } from '../cli/run-command.ts';
import { startKubeProxy, type KubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

const mergePatch = 'application/merge-patch+json';
const key = 'a-signing-key-of-the-platform-team';

interface Event {
  readonly type: string;
  readonly data: {
    readonly tag?: string;
    readonly workloads?: readonly string[];
    readonly reason?: string;
    readonly origin?: object;
    readonly originBefore?: object;
  };
}

/** A receiver that fails twice before it accepts, and shows each id once. */
function startReceiver() {
  const tries = new Map<string, number>();
  const accepted = new Map<string, Event>();
  const chats: string[] = [];
  const forged: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url?.startsWith('/chat')) {
        chats.push(body);
        return response.writeHead(200).end('ok');
      }
      if (request.url?.startsWith('/strict')) return response.writeHead(400).end(`cannot read what ${request.url} got`);
      const id = String(request.headers['webhook-id']);
      const signed = createHmac('sha256', key)
        .update(`${id}.${String(request.headers['webhook-timestamp'])}.${body}`)
        .digest('base64');
      if (request.headers['webhook-signature'] !== `v1,${signed}`) forged.push(id);
      const count = (tries.get(id) ?? 0) + 1;
      tries.set(id, count);
      if (count === 1) return response.writeHead(503, { 'retry-after': '1' }).end(`no upstream for ${request.url}`);
      if (count === 2) return request.socket.destroy();
      accepted.set(id, JSON.parse(body) as Event);
      return response.writeHead(202).end();
    });
  });
  return { server, tries, accepted, chats, forged };
}

let world: World;
let service: Service;
let proxy: KubeProxy;
const receiver = startReceiver();
let origin: string;

before(async () => {
  receiver.server.listen(0, '127.0.0.1');
  await once(receiver.server, 'listening');
  origin = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}`;
  world = await startWorld();
  proxy = await startKubeProxy(world.cluster, world.kubeconfig);
  const tokenFile = join(tempFolder('token'), 'token');
  writeFileSync(tokenFile, 'first');
  proxy.tokens.add('first');
  service = await world.start({
    kubeconfig: writeKubeconfig(proxy.server, { tokenFile }),
    env: {
      WEBHOOK_SECRET: 'end-to-end-secret',
      HOOK_URL: `${origin}/hooks/s3cret-of-the-hook`,
      CHAT_URL: `${origin}/chat/s3cret-of-the-chat`,
      STRICT_URL: `${origin}/strict/s3cret-of-the-strict`,
      KEY: key,
    },
    config: {
      notifications: {
        hosts: [origin],
        targets: [
          { name: 'platform', kind: 'webhook', url: { env: 'HOOK_URL' }, secret: { env: 'KEY' }, insecure: true },
          {
            name: 'approvers',
            kind: 'slack',
            url: { env: 'CHAT_URL' },
            insecure: true,
            events: ['ApprovalRequired'],
            namespaces: [world.namespace],
          },
          {
            name: 'strict',
            kind: 'slack',
            url: { env: 'STRICT_URL' },
            insecure: true,
            events: ['*'],
            policies: { matchLabels: { strict: 'yes' } },
          },
          { name: 'others', kind: 'slack', url: { env: 'CHAT_URL' }, insecure: true, namespaces: ['elsewhere'] },
        ],
      },
    },
  });
  await announce(world.registry, service);
});
after(async () => {
  await world.stop();
  await proxy.stop();
  receiver.server.closeAllConnections();
  receiver.server.close();
});

const push = (name: string, tag: string) =>
  pushImage({
    host: world.registry.host,
    repository: `shop/${name}`,
    tag,
    content: `${name} ${tag}`,
    labels: {
      'org.opencontainers.image.source': `https://github.com/shop/${name}`,
      'org.opencontainers.image.revision': revisionOf(tag),
      'org.opencontainers.image.version': tag,
    },
  });
const revisionOf = (tag: string) => Buffer.from(tag.padEnd(20)).toString('hex');
const eventsOf = (type: string) => [...receiver.accepted.values()].filter((event) => event.type.endsWith(`.${type}`));
const untilEvent = (type: string, fits: (event: Event) => boolean) =>
  waitFor(`a notice ${type}`, () => Promise.resolve(eventsOf(type).some(fits)));

async function createApp(name: string, spec: Parameters<World['createPolicy']>[3] = {}): Promise<string> {
  const repository = `${world.registry.host}/shop/${name}`;
  await push(name, '1.0.0');
  await world.createDeployment(name, `${repository}:1.0.0`);
  await world.createPolicy(name, repository, { strategy: 'SemVer' }, spec);
  await world.waitForFirstLook(name);
  return repository;
}

test('an update is reported once in effect, although the service is killed before it has written the status', async () => {
  const repository = await createApp('killed');
  const path = /imagepolicies\/killed\/status/;
  const earlier = proxy.requests.length;
  proxy.spoil({ status: 503 }, { method: 'PATCH', path, times: 1_000 });
  await push('killed', '1.1.0');
  await world.waitForImage('killed', `${repository}:1.1.0`);
  await waitFor('the status to be refused twice', () =>
    Promise.resolve(proxy.requests.slice(earlier).filter((request) => request.startsWith('PATCH') && path.test(request)).length >= 2),
  );
  await service.kill9();
  proxy.heal();
  await service.restart();
  await waitFor('the status to be written', async () => (await world.readStatus('killed')).history?.[0]?.tag === '1.1.0');
  await untilEvent('Updated', ({ data }) => data.tag === '1.1.0');
  await createApp('later');
  await push('later', '2.0.0');
  await untilEvent('Updated', ({ data }) => data.tag === '2.0.0');
  assert.deepEqual(
    eventsOf('Updated').map(({ data }) => [data.tag, data.workloads]),
    [
      ['1.1.0', [`Deployment ${world.namespace}/killed`]],
      ['2.0.0', [`Deployment ${world.namespace}/later`]],
    ],
  );
  const { data } = eventsOf('Updated').find((event) => event.data.tag === '1.1.0') ?? {};
  assert.deepEqual(data?.originBefore, { repository: 'https://github.com/shop/killed', revision: revisionOf('1.0.0'), version: '1.0.0' });
  assert.ok([...receiver.tries.values()].every((count) => count >= 3));
  assert.deepEqual(receiver.forged, []);
});

test('an approval is reported to those who asked for approvals, and no secret is in the log or the metrics', async () => {
  await createApp('approved', { update: { mode: 'Approval' } });
  await push('approved', '1.1.0');
  await untilEvent('ApprovalRequired', ({ data }) => data.tag === '1.1.0');
  const { data } = eventsOf('ApprovalRequired').find((event) => event.data.tag === '1.1.0') ?? {};
  const repository = 'https://github.com/shop/approved';
  assert.deepEqual(data?.origin, { repository, revision: revisionOf('1.1.0'), version: '1.1.0' });
  await waitFor('the chat to show it', () => Promise.resolve(receiver.chats.length > 0));
  assert.equal(receiver.chats.length, 1);
  assert.ok(receiver.chats[0]?.includes(`image-watcher approve ${world.namespace}/approved\``), receiver.chats[0]);
  assert.ok(receiver.chats[0]?.includes(`<${repository}/commit/${revisionOf('1.1.0')}|Commit `), receiver.chats[0]);
  const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  assert.match(metrics, /image_watcher_notices_total\{kind="ApprovalRequired",target="approvers",result="sent"\} 1/);
  const output = service.logTail(10_000);
  assert.match(output, /notice not accepted/);
  assert.doesNotMatch(output + metrics, /s3cret-of-the/);
});

test('a stalled policy is reported as Blocked', async () => {
  await createApp('stalled');
  await world.patchPolicy('stalled', { targets: [{ kind: 'Deployment', name: 'missing' }] });
  await untilEvent('Blocked', ({ data }) => data.reason === 'TargetNotFound');
});

test('a NotificationTarget notifies a team of policies in its namespace, and shows problems in its status', async () => {
  const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/notificationtargets`;
  const create = async (name: string, spec: object) =>
    world.cluster.request('POST', path, { apiVersion: 'operator.technomad.dev/v1', kind: 'NotificationTarget', metadata: { name }, spec });
  const createSecret = async (name: string, url: string) =>
    world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, { metadata: { name }, stringData: { url } });
  const reasonOf = async (name: string) => {
    const { status } = (await world.cluster.request('GET', `${path}/${name}`)) as {
      status?: { conditions?: { reason: string; message: string }[] };
    };
    return status?.conditions?.[0];
  };
  const untilReason = (name: string, reason: string) =>
    waitFor(`${name} to be ${reason}`, async () => (await reasonOf(name))?.reason === reason);
  await createSecret('metadata-service', 'http://169.254.169.254/s3cret-path');
  await create('forbidden', { type: 'slack', urlSecretRef: { name: 'metadata-service', key: 'url' } });
  await untilReason('forbidden', 'HostNotAllowed');
  assert.doesNotMatch((await reasonOf('forbidden'))?.message ?? '', /s3cret|169\.254/);

  await create('team', { type: 'slack', urlSecretRef: { name: 'team-chat', key: 'url' }, events: ['Updated'] });
  await untilReason('team', 'SecretNotUsable');
  const shown = receiver.chats.length;
  await createSecret('team-chat', `${origin}/chat/team`);
  await untilReason('team', 'Configured');
  await createApp('teams-app');
  await push('teams-app', '3.0.0');
  await untilReason('team', 'Delivered');
  assert.match(receiver.chats.slice(shown).join(), /teams-app 3\.0\.0 replaces 1\.0\.0/);
  assert.equal(await reasonOf('forbidden').then((found) => found?.reason), 'HostNotAllowed');
});

test('a notification that its target refuses is shown with the push, without the address of the target', async () => {
  const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}`;
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'strict-chat' },
    stringData: { url: `${origin}/strict/s3cret-of-the-team` },
  });
  await world.cluster.request('POST', `${path}/notificationtargets`, {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'NotificationTarget',
    metadata: { name: 'strict' },
    spec: { type: 'slack', urlSecretRef: { name: 'strict-chat', key: 'url' }, events: ['*'], policies: { matchLabels: { strict: 'yes' } } },
  });
  await createApp('strict');
  await world.cluster.request('PATCH', `${path}/imagepolicies/strict`, { metadata: { labels: { strict: 'yes' } } }, mergePatch);
  await push('strict', '4.0.0');
  const tokenFile = join(tempFolder('admin'), 'token');
  writeFileSync(tokenFile, world.cluster.token);
  const options = ['--server', service.operationsUrl, '--insecure', '--token-file', tokenFile];
  const read = async () => {
    const { code, out, err } = await runCommand('events', [`${world.namespace}/strict`, ...options]);
    assert.deepEqual([code, err], [0, '']);
    return out;
  };
  await waitFor('both to be shown', async () => ((await read()).match(/was given up/g) ?? []).length >= 2);
  const shown = await read();
  assert.match(shown, /the notification Updated was given up: the target strict refused it\n/);
  const team = new RegExp(`the target ${world.namespace}/strict refused it: POST to ${origin} was answered 400: cannot read what … got`);
  assert.match(shown, team);
  const headers = { authorization: `Bearer ${world.cluster.token}` };
  const report = async () => (await fetch(`${service.operationsUrl}/api/v1/doctor`, { headers })).text();
  await waitFor('the doctor to name both', async () => {
    const { findings } = JSON.parse(await report()) as { findings: { line: string; level: string; subject?: string }[] };
    const failing = findings.filter(({ line, level }) => line === 'notifications/accepted' && level === 'warning');
    const names = new Set(failing.map(({ subject }) => subject));
    return names.has('strict') && names.has(`${world.namespace}/strict`) && !names.has('platform');
  });
  assert.doesNotMatch(shown + (await report()) + service.logTail(10_000), /s3cret-of-the/);
});
