/** What a command loads is what its start costs: each loads no more packages and rooms than it uses. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { tempFolder } from '../harness/temp-folder.ts';
import { createPolicies, startCliWorld, type CliWorld } from './cluster-world.ts';

const root = join(import.meta.dirname, '../..');
const folder = tempFolder('loaded');
const hook = join(folder, 'hook.mjs');
writeFileSync(
  hook,
  `import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const urls = [];
registerHooks({ load(url, context, next) { urls.push(url); return next(url, context); } });
process.on('exit', () => writeFileSync(process.env.LOADED, urls.join('\\n')));
`,
);

/** Runs the program as users of a checkout do. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const loaded = join(folder, 'urls');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', hook, join(root, 'bin/image-watcher.mjs'), ...args], {
    env: { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), LOADED: loaded, ...env },
  });
  const urls = readFileSync(loaded, 'utf8').split('\n');
  const namesIn = (pattern: RegExp) => [...new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? []))].toSorted();
  return {
    stdout,
    stderr,
    packages: namesIn(/^file:.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//),
    // But for what each wing adds, which is known before any of it is loaded.
    rooms: namesIn(/^file:.*\/src\/((?:(?:core|service)\/)?[^/]+)\/(?!wing\.ts$|commands\/summaries\.ts$)/),
    has: (file: string) => urls.some((url) => url.endsWith(`/src/${file}`)),
  };
}

for (const [args, expected] of [
  // With --output yaml.
  [['version'], ['commander', 'yaml']],
  [['--help'], ['commander']],
  [['completion', 'bash'], ['commander']],
  [['__complete', 'ge'], ['commander']],
] as const)
  it(`${args.join(' ')} loads ${expected.join(' and ')}, and no other package`, async () => {
    const { stdout, stderr, packages } = await run(args);
    assert.notEqual(stdout, '');
    assert.equal(stderr, '');
    assert.deepEqual(packages, expected);
  });

describe('with policies in the cluster,', () => {
  let world: CliWorld;
  before(async () => {
    world = await startCliWorld();
    await createPolicies(world);
  });
  after(() => world.stop());

  // client-node reads the kubeconfig, and brings packages of its own, and two that are also ours.
  const own: ReadonlySet<string> = new Set(Object.keys(manifest.dependencies));
  const ownOf = (packages: readonly string[]) => packages.filter((name) => own.has(name));
  const forAsking = ['@kubernetes/client-node', 'commander', 'jose', 'openid-client', 'undici', 'yaml', 'zod'];

  it('get loads the client of the API server and the schema of the status, and neither the configuration nor the service', async () => {
    const { stdout, packages, rooms, has } = await run(['get', '--kubeconfig', world.kubeconfig]);
    assert.match(stdout, /^web +\S+ +1\.4\.0 +1\.4\.0 +True +UpToDate/m);
    assert.deepEqual(ownOf(packages), forAsking);
    assert.deepEqual(rooms, [
      'cli',
      'core/async',
      'core/model',
      'service/command-line',
      'service/config',
      'service/kube',
      'service/resources',
      'service/telemetry',
    ]);
    const notNeeded = [
      'service/config/settings.ts',
      'service/resources/v1.ts',
      'service/kube/reflector.ts',
      'service/telemetry/metrics.ts',
      'service/telemetry/logger.ts',
    ];
    assert.deepEqual(notNeeded.filter(has), []);
  });

  it('the completion of names loads no more packages than get', async () => {
    const { stdout, packages } = await run(['__complete', 'get', ''], { KUBECONFIG: world.kubeconfig });
    assert.equal(stdout, 'api\nheld\nweb\n:4\n');
    // zod with the command whose options are known then.
    assert.deepEqual(ownOf(packages), forAsking);
  });
});

it('compiled code is kept in the cache of the user if the cache is writable', async () => {
  const cache = join(folder, 'own-cache');
  await run(['version'], { XDG_CACHE_HOME: cache });
  assert.notDeepEqual(readdirSync(join(cache, 'image-watcher'), { recursive: true }), []);
  const { stderr } = await run(['version'], { XDG_CACHE_HOME: hook });
  assert.equal(stderr, '');
});
