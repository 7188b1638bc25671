/** The embedded Redis asks for a password, which is in a file of those who need it and nowhere else. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { redisAddressOf } from '../../src/service/compose/redis.ts';
import { loadSettings } from '../../src/service/config/settings.ts';
import { connectProducer } from '../../src/service/queue/connection.ts';
import { findRedis, lacksHelm } from '../harness/binaries.ts';
import { renderChart, type Manifest } from '../harness/helm.ts';
import { askRedis } from '../harness/redis.ts';
import { startServer } from '../harness/server.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { podTemplatesOf } from './manifests.ts';

const skip = (await lacksHelm()) ?? false;

test('rendering the chart is deterministic and contains no password, which is generated in the cluster', { skip }, async () => {
  const [first, second] = await Promise.all([renderChart({}), renderChart({})]);
  assert.deepEqual(first, second);
  assert.ok(!first.some(({ kind }) => kind === 'Secret'));
  const job = podTemplatesOf(first).find(({ name }) => name === 'image-watcher-redis-password');
  assert.deepEqual(job?.spec.containers[0]?.args, ['generate-password', '--secret', 'image-watcher/image-watcher-redis']);
});

test('a Secret given by the user is used as it is, and none is generated', { skip }, async () => {
  const objects = await renderChart({ redis: { embedded: { password: { secretName: 'mine', key: 'its-password' } } } });
  const pods = podTemplatesOf(objects);
  assert.ok(!objects.some(({ metadata }) => metadata.name.includes('redis-password')));
  const mounts = pods.filter(({ spec }) =>
    JSON.stringify(spec).includes('{"secretName":"mine","items":[{"key":"its-password","path":"password"}]}'),
  );
  assert.deepEqual(mounts.map(({ name }) => name).sort(), ['image-watcher-receive', 'image-watcher-redis', 'image-watcher-work']);
});

test('the conversion webhook has neither the password nor an address of Redis', { skip }, async () => {
  const objects = await renderChart({});
  const pod = podTemplatesOf(objects).find(({ name }) => name === 'image-watcher-convert');
  assert.ok(!JSON.stringify(pod?.spec).includes('redis'));
  assert.equal(pod?.spec.containers[0]?.args?.[4], '/etc/image-watcher/convert.yaml');
  assert.ok(!configIn(objects, 'convert.yaml').includes('redis'));
});

function configIn(objects: readonly Manifest[], file: string): string {
  const maps = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data as Record<string, string>);
  return maps.find((data) => Object.hasOwn(data, file))?.[file] ?? '';
}

/** Redis as its container starts it, on a port and in folders of this machine. */
async function startEmbedded(objects: readonly Manifest[], passwordFile: string) {
  const [container] = podTemplatesOf(objects).find(({ name }) => name === 'image-watcher-redis')?.spec.containers ?? [];
  const { command = [], args = [] } = container as { command?: readonly string[]; args?: readonly string[] };
  const [run, data] = [tempFolder('run'), tempFolder('redis')];
  const [script = '', program, ...flags] = args;
  assert.equal(program, 'valkey-server');
  const here = script.replaceAll('/run/secrets/redis/password', passwordFile).replaceAll('/run/redis/', `${run}/`);
  const own = flags.map((flag) => flag.replace('/data', data)).filter((flag) => !flag.startsWith('--appendfsync'));
  const redis = await findRedis();
  return startServer({
    name: 'redis',
    command: command[0] ?? '',
    portCount: 1,
    args: ([port]) => [...command.slice(1), here, redis, ...own, `--port ${port}`, '--bind 127.0.0.1'],
    isReady: async ([port]) => (await askRedis(port as number, 'PING', 2_000)).includes('NOAUTH'),
  });
}

for (const [about, password] of [
  ['as the job makes it', 'ab01'.repeat(16)],
  ['with all that has a meaning to shells, URLs and configurations', String.raw`p"a's\\\s $HOME \x41 & #%41@:/?|;*`],
] as const) {
  test(
    `Redis and the service take the password from their files, ${about}, and no argument or variable has it`,
    { skip },
    async (context) => {
      const objects = await renderChart({});
      const passwordFile = join(tempFolder('secret'), 'password');
      writeFileSync(passwordFile, `${password}\n`);
      const server = await startEmbedded(objects, passwordFile);
      context.after(() => server.stop());
      const [port] = server.ports as [number];
      assert.match(await askRedis(port, 'GET key'), /NOAUTH/);
      for (const file of ['cmdline', 'environ']) assert.ok(!readFileSync(`/proc/${server.pid}/${file}`, 'utf8').includes(password), file);

      const { redis, ...rest } = parse(configIn(objects, 'work.yaml')) as { redis: { url: string; password: { file: string } } };
      assert.deepEqual(redis.password, { file: '/etc/image-watcher-redis/password' });
      const file = join(tempFolder('config'), 'config.yaml');
      writeFileSync(file, stringify({ ...rest, redis: { url: `redis://127.0.0.1:${port}/0`, password: { file: passwordFile } } }));
      const connection = connectProducer(redisAddressOf(loadSettings({ file, env: {}, namespaceFile: '/nonexistent' })));
      context.after(() => connection.disconnect());
      await new Promise((resolve) => connection.once('ready', resolve));
      assert.equal(await connection.ping(), 'PONG');
    },
  );
}

test('Redis does not start without a password', { skip }, async () => {
  const passwordFile = join(tempFolder('secret'), 'password');
  writeFileSync(passwordFile, '\n');
  await assert.rejects(startEmbedded(await renderChart({}), passwordFile), /the password of Redis is empty/);
});
