/**
 * `npm run test:image`: builds the Dockerfile, runs what it makes, and holds it to what the chart and the documentation say of it.
 * Exit codes: 0 fine, 1 something is wrong with the image, 77 nothing was tested, because there is no Docker engine.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { fencesOf } from '../docs/markdown.ts';
import { shellCommandsOf } from '../docs/shell.ts';
import { announce, startWorld, type World } from '../end-to-end/world.ts';
import { readNodeOptions } from '../harness/image-start.ts';
import { prepareServers } from '../harness/prepare.ts';
import { pushImage } from '../harness/push-image.ts';
import { startRedis, type Redis } from '../harness/redis.ts';
import { runCommand } from '../harness/run-command.ts';
import { startService, type Service } from '../harness/service.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { readSamples, sampleSecret } from '../service/receive/providers/read-samples.ts';
import { buildImage, type BuiltImage } from './build-image.ts';
import { containersOf, type Containers } from './containers.ts';
import { findEngine, type Engine } from './engine.ts';

const nothingTested = 77;
const maximumMegabytes = 250;
const root = join(import.meta.dirname, '../..');
const readText = (path: string) => readFileSync(join(root, path), 'utf8');

const engine = await findEngine();
if (typeof engine === 'string') {
  process.stderr.write(`THE IMAGE IS NOT TESTED: ${engine}\n`);
  process.exitCode = nothingTested;
} else {
  await prepareServers({ controllerManager: false });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void engine.stop().finally(() => process.exit(1)));
  describe('the image', () => testImage(engine));
}

interface Inspected {
  readonly Size: number;
  readonly Config: {
    User: string;
    Entrypoint: string[];
    Cmd: string[] | null;
    Healthcheck?: object;
    Env: string[];
    Labels: Record<string, string>;
  };
  readonly RootFS: { Layers: string[] };
}

function testImage(engine: Engine): void {
  let image: BuiltImage;
  let containers: Containers;
  let inspected: Inspected;
  let files: string[];
  const inspect = async (name: string) => (JSON.parse(await engine.docker(['image', 'inspect', name])) as [Inspected])[0];

  before(async () => {
    image = await buildImage(engine);
    containers = containersOf(engine, image.name);
    inspected = await inspect(image.name);
    files = await filesOf(engine, image.name);
  });
  after(async () => {
    await containers?.removeAll();
    await engine.stop();
  });

  it(`is smaller than ${maximumMegabytes} MB`, (context) => {
    const megabytes = inspected.Size / 1e6;
    context.diagnostic(`${megabytes.toFixed(0)} MB with the bases ${Object.values(image.bases).join(' and ')}`);
    assert.ok(megabytes < maximumMegabytes, String(megabytes));
  });

  it('runs the program itself, as the user of the chart, without a health check of its own', () => {
    const values = parse(readText('charts/image-watcher/values.yaml')) as { podSecurityContext: { runAsUser: number; runAsGroup: number } };
    const { runAsUser, runAsGroup } = values.podSecurityContext;
    const { User, Entrypoint, Cmd, Healthcheck, Labels } = inspected.Config;
    assert.equal(User, `${runAsUser}:${runAsGroup}`);
    assert.deepEqual([Entrypoint, Cmd ?? []], [['/usr/local/bin/node', ...readNodeOptions(), '/app/dist/main.js'], []]);
    assert.equal(Healthcheck, undefined);
    assert.equal(Labels['org.opencontainers.image.licenses'], 'Apache-2.0');
  });

  it('has the program and its packages, and no shell, package manager, tests or types', () => {
    const has = (pattern: RegExp) => files.filter((file) => pattern.test(file));
    for (const file of [
      'app/dist/main.js',
      'app/package.json',
      'app/package-lock.json',
      'app/LICENSE',
      'app/node_modules/bullmq/package.json',
    ])
      assert.ok(files.includes(file), file);
    assert.deepEqual(
      has(/(?:^|\/)(?:sh|bash|dash|busybox|apt|apt-get|dpkg|apk|npm|npx|corepack|yarn)$/).filter((file) => /\bs?bin\//.test(file)),
      [],
    );
    assert.deepEqual(
      has(/^app\/(?!dist\/|node_modules\/|(?:package|package-lock)\.json$|LICENSE$)./).filter((file) => !file.endsWith('/')),
      [],
    );
    assert.deepEqual(
      has(/^app\/node_modules\/(?:typescript|oxlint|node|fast-check)\/|\.map$|\.d\.ts$|\.node$|npmrc$|^app\/node_modules\/\.package-lock/),
      [],
    );
  });

  it('discloses nothing about the machine that built it', async () => {
    const history = await engine.docker(['history', '--no-trunc', '--format', '{{.CreatedBy}}', image.name]);
    assert.doesNotMatch(history, /_authToken|BEGIN CERTIFICATE|https?:\/\//);
    assert.deepEqual(
      inspected.Config.Env.filter((entry) => !/^(?:PATH|NODE_ENV|MALLOC_ARENA_MAX|MALLOC_TRIM_THRESHOLD_|SSL_CERT_FILE)=/.test(entry)),
      [],
    );
  });

  it('is reproducible', async (context) => {
    const again = await inspect(await image.rebuild());
    context.diagnostic(`${again.RootFS.Layers.length} layers`);
    assert.deepEqual(again.RootFS.Layers, inspected.RootFS.Layers);
  });

  it('runs commands', async () => {
    const help = await containers.run(['--help']);
    assert.deepEqual([help.code, help.output.split('\n')[0]], [0, 'Usage: image-watcher COMMAND [OPTIONS]']);
    const crd = await containers.run(['crd', 'print', '--v1-only']);
    assert.equal(crd.code, 0, crd.output);
    assert.match(crd.output, /^kind: CustomResourceDefinition$/m);
  });

  it('reports what is wrong with its configuration, and ends with 2', async () => {
    const file = join(tempFolder('config'), 'config.yaml');
    writeFileSync(file, 'receivers: [{name: a, provider: nobody}]\ncolour: blue\n');
    const { code, output } = await containers.run(['serve', '--config', file], { files: [file] });
    assert.equal(code, 2, output);
    assert.match(output, /receivers\[0\]\.provider/);
    assert.match(output, /colour: is not a setting/);
  });

  it('ends at SIGTERM even where a command has nothing to finish', async () => {
    const name = await containers.startWaiting(['simulate', '--provider', 'harbor', '--file', '-']);
    await waitFor('it to end', async () => {
      // Before the program has begun, a signal is lost.
      if ((await containers.state(name)) === 'running') await containers.signal(name, 'SIGTERM');
      return (await containers.state(name)) === 'exited with 143';
    });
  });

  describe('as a receiver', () => {
    let redis: Redis;
    let service: Service;
    let name: string;
    before(async () => {
      redis = await startRedis();
      const receiver = containers.program({ variables: ['WEBHOOK_SECRET'] });
      name = receiver.name;
      service = await startService({
        redisUrl: redis.url,
        roles: 'receive',
        program: receiver.program,
        env: { WEBHOOK_SECRET: sampleSecret },
        config: { receivers: [{ name: 'git', provider: 'gitea', secrets: [{ env: 'WEBHOOK_SECRET' }] }] },
      });
    });
    after(async () => {
      await service?.stop();
      await redis?.stop();
    });

    it('is alive and ready', async () => {
      for (const path of ['livez', 'readyz']) assert.equal((await fetch(`${service.operationsUrl}/${path}`)).status, 200, path);
    });

    it('accepts a signed webhook, and no other', async () => {
      const sample = readSamples('gitea').find(({ decision }) => decision === 'push') ?? assert.fail('there is no sample');
      const send = async (headers: Readonly<Record<string, string>>) => {
        const { status } = await fetch(`${service.publicUrl}/webhooks/git`, { method: 'POST', headers, body: new Uint8Array(sample.body) });
        return status;
      };
      const { host: _, 'content-length': __, ...headers } = sample.headers;
      assert.equal(await send(headers), 202);
      const isProof = (header: string) => header.includes('signature');
      assert.equal(await send(Object.fromEntries(Object.entries(headers).filter(([header]) => !isProof(header)))), 401);
    });

    it('ends at SIGTERM with exit code 0', async () => {
      await service.stop();
      assert.equal(await containers.state(name), 'exited with 0');
    });
  });

  describe('with all roles', () => {
    let world: World;
    let service: Service;
    let name: string;
    const token = join(tempFolder('token'), 'token');
    before(async () => {
      world = await startWorld();
      // As a pod has it.
      writeFileSync(token, world.cluster.token, { mode: 0o644 });
      const options = [`--volume=${token}:/var/run/secrets/kubernetes.io/serviceaccount/token:ro`];
      const variables = ['KUBECONFIG', 'LOG_LEVEL', 'WEBHOOK_SECRET'];
      const all = containers.program({ variables, files: [world.kubeconfig], options });
      name = all.name;
      service = await world.start({ program: all.program });
      await announce(world.registry, service);
    });
    after(async () => {
      await world?.stop();
    });

    it('deploys a push to a Deployment', async () => {
      const image = `${world.registry.host}/shop/web`;
      const push = (tag: string) => pushImage({ host: world.registry.host, repository: 'shop/web', tag, content: tag });
      await push('1.0.0');
      await world.createDeployment('web', `${image}:1.0.0`);
      await world.createPolicy('web', image, { strategy: 'SemVer' });
      await world.waitForFirstLook('web');
      await push('1.0.1');
      await world.waitForImage('web', `${image}:1.0.1`);
    });

    it('runs what the quickstart runs in a pod', async () => {
      const commands = fencesOf(readText('docs/quickstart.md')).flatMap(({ language, body }) =>
        language === 'sh' ? shellCommandsOf(body) : [],
      );
      const inPod = commands.flatMap(({ words }) => (words.includes('exec') ? [words.slice(words.indexOf('--') + 1)] : []));
      assert.ok(inPod.length > 0, 'it runs nothing there');
      for (const words of inPod) {
        const command = words.map((word, index) => {
          if (words[index - 1] === '--repository') return `${world.registry.host}/shop/web`;
          return word;
        });
        const own = ['--server', service.operationsUrl, '--insecure'];
        const output = await containers.exec(name, [...command, ...own]);
        assert.match(output, /shop\/web:1\.0\.1/);
      }
    });

    it('ends at SIGTERM with exit code 0', async () => {
      await service.stop();
      assert.equal(await containers.state(name), 'exited with 0');
    });
  });
}

/** The paths of everything in an image. */
async function filesOf(engine: Engine, image: string): Promise<string[]> {
  const archive = join(tempFolder('image'), 'files.tar');
  // The id is not all that the command writes: there may be warnings about the host.
  const container = `image-watcher-files-${randomUUID()}`;
  await engine.docker(['create', '--name', container, image]);
  await engine.docker(['export', '--output', archive, container]);
  await engine.docker(['rm', container]);
  return (await runCommand('tar', ['--list', '--file', archive])).split('\n');
}
