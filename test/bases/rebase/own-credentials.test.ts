/** Rebases without a push Secret, in a real registry: image-watcher pushes with its own credentials, and only where the operator permits that. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPolicyRebases, type PolicyRebaseMeans } from '../../../src/bases/rebase/rebase-for-policy.ts';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import type { ImageSource } from '../../../src/core/model/image-source.ts';
import { mayPush } from '../../../src/core/model/push-grant.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { basicAuthorization, type CredentialSource } from '../../../src/service/registry/credential.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { type RegistryProxy, startRegistryProxy } from '../../harness/registry-proxy.ts';
import { type Pushed, pushJava } from './java-images.ts';

let registry: Registry;
let proxy: RegistryProxy;
const reader = { username: 'reader', password: 'reads' };
const pusher = { username: 'pusher', password: 'writes' };

before(async () => {
  registry = await startRegistry();
  proxy = await startRegistryProxy(registry.host);
});
after(async () => {
  await proxy.stop();
  await registry.stop();
});

/** An application whose repository only the pusher may write. Everything may be read by the reader. */
async function pushGuarded(): Promise<Pushed> {
  const pushed = await pushJava({ registry: registry.host, proxy: proxy.host });
  const own = `/v2/${pushed.order.application.source.path}/`;
  proxy.fault = (method, path, authorization) => {
    const isRead = (method === 'GET' || method === 'HEAD') && authorization === basicAuthorization(reader);
    const isOwn = path.startsWith(own) && authorization === basicAuthorization(pusher);
    return isRead || isOwn ? undefined : { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } };
  };
  return pushed;
}

async function run({ order, digests }: Pushed, own: PolicyRebaseMeans['own']) {
  const client = createRegistryClient({
    registries: [{ host: proxy.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [{ source: 'the credentials for reading', read: () => Promise.resolve(reader) }],
  });
  const { rebase } = createPolicyRebases({
    registry: client,
    readSecret: () => assert.fail('the policy names no Secret'),
    verify: () => assert.fail('nothing is signed'),
    own,
    now: Date.now,
  });
  try {
    return await rebase(
      {
        policy: { namespace: 'platform', spec: { base: { repository: order.newBase.source } } },
        action: { kind: 'rebase', images: ['*'], tag: '$tag-base.$date', allow: [] },
        // The image was read with the Secrets of its workload.
        image: {
          source: { ...order.application.source, access: { secrets: [{ namespace: 'shop', name: 'pull', namedBy: 'target' }] } },
          tag: '1.2.3',
          digest: digests.application,
          base: digests.oldBase,
        },
        base: { tag: '21.0.2', digest: digests.newBase },
        date: order.date,
        isOnlyPlanned: false,
      },
      { signal: AbortSignal.timeout(300_000), confirm: () => Promise.resolve() },
    );
  } finally {
    await client.close();
  }
}

const grant =
  (policiesFrom: string, ...push: string[]): PolicyRebaseMeans['own']['mayPush'] =>
  (namespace, repository) =>
    mayPush([{ policiesFrom, push }], namespace, repository, new Map([['mirror.example.com', proxy.host]]));

test('the credentials of image-watcher push where the operator permits it, and serve only the repository of the application', async () => {
  for (const pattern of ['exact', 'star', 'alias'] as const) {
    const pushed = await pushGuarded();
    const { source } = pushed.order.application;
    const asked: ImageSource[] = [];
    const credentials: CredentialSource = (image) => {
      asked.push(image);
      return [{ source: 'the own credentials', read: () => Promise.resolve(pusher) }];
    };
    const patterns = { exact: formatRepository(source), star: `${proxy.host}/*/web`, alias: `mirror.example.com/${source.path}` };
    const seen = proxy.requests.length;
    const result = await run(pushed, { credentials, mayPush: grant('platform', patterns[pattern]) });
    assert.ok('tag' in result, JSON.stringify(result));
    const manifest = `http://${registry.host}/v2/${source.path}/manifests/${result.tag}`;
    const accept = 'application/vnd.oci.image.index.v1+json';
    const pushedDigest = (await fetch(manifest, { method: 'HEAD', headers: { accept } })).headers.get('docker-content-digest');
    assert.equal(pushedDigest, result.digest);
    // Without the Secrets of the workload, which may belong to another owner.
    for (const image of asked) assert.deepEqual(image, { registry: source.registry, path: source.path });
    const ofPusher = proxy.requests.slice(seen).filter(({ authorization }) => authorization === basicAuthorization(pusher));
    assert.ok(ofPusher.length > 5 && ofPusher.every(({ path }) => path.startsWith(`/v2/${source.path}/`)));
  }
});

test('the credentials of image-watcher push for no other namespace, repository or registry, and a refusal names the remedy', async () => {
  const pushed = await pushGuarded();
  const { registry: host, path } = pushed.order.application.source;
  const unfit = [
    grant('platform'),
    grant('shop', `${host}/*`),
    grant('platform', `${host}/${path}x`, `${host}/x/${path}`, `${host}/${path.slice(0, -1)}`),
    grant('platform', `other.example.com/${path}`, `other.example.com/*`),
  ];
  for (const mayPush of unfit) {
    const seen = proxy.requests.length;
    const credentials = () => assert.fail('the credentials of image-watcher are read without permission');
    assert.deepEqual(await run(pushed, { credentials, mayPush }), {
      refused: {
        reason: 'PushNotPermitted',
        message: `nothing permits to push ${host}/${path}: add {policiesFrom: platform, push: [${host}/${path}]} to consents in the configuration of image-watcher, or name a pushSecret in the action`,
      },
    });
    assert.equal(proxy.requests.length, seen);
  }
});
