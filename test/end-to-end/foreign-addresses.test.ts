/** Somebody's address in every field that a tenant or a sender can write: nobody connects to it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { eachOf } from './fleet.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const root = join(import.meta.dirname, '../..');

describe('an address that is not among the allowed registries', () => {
  let world: World;
  let service: Service;
  let canary: Server;
  let address: string;
  let connections = 0;
  before(async () => {
    canary = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    canary.listen(0, '127.0.0.1');
    await once(canary, 'listening');
    address = `127.0.0.1:${(canary.address() as AddressInfo).port}`;
    world = await startWorld();
    service = await world.start({
      config: {
        receivers: [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] }],
        registries: [world.quiet.host, address].map((host) => ({ host, insecure: true })),
        allowedRegistries: [world.quiet.host],
      },
    });
    const auths = Object.fromEntries([world.quiet.host, address, `http://${address}/v1/`].map((host) => [host, { auth: 'YTpi' }]));
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
      metadata: { name: 'everywhere' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': JSON.stringify({ auths }) },
    });
    for (const tag of ['1.0.0', '1.0.1']) await pushImage({ host: world.quiet.host, repository: 'shop/app', tag, content: tag });
  });
  after(async () => {
    await world.stop();
    canary.close();
  });

  /** Creates it with a Deployment of its own; says whether the API server let it in. */
  const create = async (name: string, { spec }: Policy): Promise<boolean> => {
    const policy = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name, annotations: annotations() }, spec };
    await world.createDeployment(name, `${world.quiet.host}/shop/app:1.0.0`);
    const path = `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/imagepolicies`;
    return world.cluster.request('POST', path, policy).then(
      () => true,
      (error: unknown) => assert.match(String(error), /\b(?:400|422)\b/) ?? false,
    );
  };
  const annotations = () =>
    Object.fromEntries(
      ['approve', 'rollback-to', 'release', 'requested-at'].map((action) => [`operator.technomad.dev/${action}`, `${address}/shop/app`]),
    );

  it('is never contacted when it is in any field of any sample policy', async () => {
    const files = globSync('crd/samples/*.yaml', { cwd: root }).filter((file) => !file.includes('v1alpha1'));
    const policies = files.flatMap((file) => {
      const { kind, spec } = parse(readFileSync(join(root, file), 'utf8')) as Policy & { readonly kind: string };
      if (kind !== 'ImagePolicy') return [];
      return [`${address}/shop/app`, `http://${address}/shop/app`].flatMap((bait) => [...withEachText(spec, bait)]);
    });
    const named = policies.map((spec, index) => {
      const name = `bait-${index}`;
      const isBaited = (value: unknown) => JSON.stringify(value).includes(address);
      const image = isBaited(spec['image']) ? spec['image'] : `${world.quiet.host}/shop/app`;
      const targets = isBaited(spec['targets']) ? spec['targets'] : [{ kind: 'Deployment', name }];
      const pullSecrets = isBaited(spec['pullSecrets'] ?? '') ? spec['pullSecrets'] : [{ name: 'everywhere' }];
      return { name, spec: { ...spec, image, targets, pullSecrets } };
    });
    const stored: string[] = [];
    await eachOf(named, async (policy) => {
      if (await create(policy.name, policy)) stored.push(policy.name);
    });
    assert.ok(stored.length > 10, `${stored.length} of ${named.length} are stored`);
    for (const name of stored) {
      await waitFor(`${name} to be looked at`, async () => (await world.readStatus(name)).observedGeneration !== undefined);
    }
    assert.equal(connections, 0);
  });

  it('is never contacted as the registry of a push, even for a watched image', async () => {
    const body = harborBody(address, 'shop/app', [{ tag: '1.0.1' }]);
    assert.equal((await deliver(service, body)).status, 202);
    await waitFor('the push to be worked off', async () => {
      const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
      return /^image_watcher_reconciles_total\{source="Webhook",[^}]*reason="RegistryRefused"\} [1-9]/m.test(metrics);
    });
    assert.equal(connections, 0);
  });
});

interface Policy {
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The spec with one of its texts replaced, for each of them. */
function* withEachText(spec: Policy['spec'], text: string): Generator<Policy['spec']> {
  for (const path of pathsOfTexts(spec)) {
    const copy = structuredClone(spec) as Record<string, unknown>;
    let parent: Record<string, unknown> = copy;
    for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
    parent[path.at(-1) ?? ''] = text;
    yield copy;
  }
}

function* pathsOfTexts(node: unknown, path: readonly string[] = []): Generator<readonly string[]> {
  if (typeof node === 'string') yield path;
  if (typeof node !== 'object' || node === null) return;
  for (const [key, inner] of Object.entries(node)) yield* pathsOfTexts(inner, [...path, key]);
}
