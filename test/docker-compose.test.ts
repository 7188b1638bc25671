/** docker-compose.yml and what it mounts: the parts find each other, and do together what they are there for. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { loadSettings } from '../src/service/config/settings.ts';
import { findRegistry } from './harness/binaries.ts';
import { pushImage } from './harness/push-image.ts';
import { startRedis } from './harness/redis.ts';
import { startServer } from './harness/server.ts';
import { startService } from './harness/service.ts';
import { tempFolder } from './harness/temp-folder.ts';
import { waitFor } from './harness/wait-for.ts';

const root = join(import.meta.dirname, '..');
const readText = (path: string) => readFileSync(join(root, path), 'utf8');

interface Part {
  readonly command: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
}
interface RegistryConfig {
  readonly http: { readonly addr: string };
  readonly notifications: { readonly endpoints: readonly { readonly url: string; readonly headers: Readonly<Record<string, string[]>> }[] };
}

const { services, volumes, networks } = parse(readText('docker-compose.yml')) as {
  services: Readonly<Record<'image-watcher' | 'redis' | 'registry', Part>>;
  volumes: object;
  networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};
const { 'image-watcher': watcher, redis, registry } = services;
const env = watcher.environment ?? {};
const settings = loadSettings({ file: join(root, 'compose/config.yaml'), env });
const registryText = readText('compose/registry.yaml');
const registryConfig = parse(registryText) as RegistryConfig;

test('the settings of the service in docker-compose.yml are valid and refer to the other services there', () => {
  const { redis: store, receivers, registries, listen } = settings.config;
  assert.equal(store.url, 'redis://redis:6379/0');
  const [endpoint] = registryConfig.notifications.endpoints;
  assert.equal(endpoint?.url, `http://image-watcher:${listen.port}/webhooks/${receivers[0]?.name}`);
  assert.deepEqual(endpoint?.headers['Authorization'], [`Bearer ${settings.secretsOf('registry')[0]}`]);
  assert.equal(registries[0]?.host, `registry${registryConfig.http.addr}`);
  assert.deepEqual(registry.ports, [`127.0.0.1:${registries[0]?.aliases[0]?.split(':')[1]}:5000`]);
  assert.deepEqual(watcher.ports, [`127.0.0.1:${listen.port}:${listen.port}`]);
});

test("every file that docker-compose.yml mounts exists, except the user's kubeconfig, which must not be committed", () => {
  const sources = Object.values(services).flatMap((part) => part.volumes.map((volume) => volume.split(':')[0] ?? ''));
  const named = sources.filter((source) => !source.startsWith('.'));
  assert.deepEqual(named.sort(), Object.keys(volumes).sort());
  const missing = sources.filter((source) => source.startsWith('.') && !existsSync(join(root, source)));
  assert.deepEqual(
    missing.filter((source) => source !== './compose/kubeconfig'),
    [],
  );
  assert.match(readText('.gitignore'), /^compose\/kubeconfig$/m);
  for (const path of [env['KUBECONFIG'] ?? '', watcher.command[2] ?? ''])
    assert.ok(
      watcher.volumes.some((volume) => volume.includes(`:${path}:`)),
      path,
    );
});

test('only the service can reach Redis', () => {
  assert.equal(redis.ports, undefined);
  assert.deepEqual([redis.networks, networks], [['queue'], { queue: { internal: true } }]);
  const inIt = Object.entries(services).filter(([, part]) => part.networks?.includes('queue'));
  assert.deepEqual(inIt.map(([name]) => name).sort(), ['image-watcher', 'redis']);
});

test('a push to the registry is accepted and stored durably in Redis', async (context) => {
  const [program = '', ...flags] = String(redis.command).split(' ');
  assert.equal(program, 'valkey-server');
  const folder = tempFolder('compose');
  const store = await startRedis({ args: flags });
  context.after(() => store.stop());
  const { receivers, registries } = parse(readText('compose/config.yaml')) as { receivers: unknown; registries: unknown };
  const service = await startService({ redisUrl: store.url, roles: 'receive', config: { receivers, registries }, env });
  context.after(() => service.stop());
  const images = await startServer({
    name: 'registry',
    command: await findRegistry(),
    portCount: 1,
    args: ([port]) => {
      // Its text, as a registry reads it: what one reader of YAML takes, another may refuse.
      const text = registryText
        .replace("':5000'", `'127.0.0.1:${port}'`)
        .replace('/var/lib/registry', folder)
        .replace('http://image-watcher:8080', service.publicUrl);
      writeFileSync(join(folder, 'registry.yaml'), text);
      return ['serve', join(folder, 'registry.yaml')];
    },
    isReady: async ([port]) => (await fetch(`http://127.0.0.1:${port}/v2/`)).ok,
  });
  context.after(() => images.stop());
  await pushImage({ host: `127.0.0.1:${images.ports[0]}`, repository: 'shop/web', tag: '1.0.1' });
  await waitFor('the push to be accepted', async () => {
    const metrics = await (await fetch(`${service.operationsUrl}/metrics`)).text();
    return (
      /^image_watcher_pushes_total\{receiver="registry".*result="accepted"\} [1-9]\d*$/m.test(metrics) &&
      /^image_watcher_redis_durable 1$/m.test(metrics)
    );
  });
});
