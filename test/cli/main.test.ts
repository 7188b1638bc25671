import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { startConversionEndpoint, type ConversionEndpoint } from '../harness/conversion-endpoint.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { mainProgram } from '../harness/program.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const root = join(import.meta.dirname, '../..');

/** Runs the program as a user would. */
async function run(args: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string; err: string }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const options = { env: { PATH, NODE_COMPILE_CACHE, ...env }, timeout: 60_000 };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [await mainProgram(), ...args], options);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

function writeConfig(text: string): string {
  const file = join(tempFolder('config'), 'config.yaml');
  writeFileSync(file, text);
  return file;
}

/** Runs the program as kubectl does, by the name of a plugin. */
async function runPlugin(...args: string[]) {
  const plugin = join(tempFolder('plugin'), 'kubectl-image_watcher');
  symlinkSync(join(root, 'bin/image-watcher.mjs'), plugin);
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const env = { PATH: `${dirname(process.execPath)}:${PATH}`, NODE_COMPILE_CACHE };
  return promisify(execFile)(plugin, args, { env, timeout: 60_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, out: stdout, err: stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, out: stdout, err: stderr }),
  );
}

describe('the plugin of kubectl', () => {
  for (const args of [
    [],
    ['--help'],
    ['get', '--help'],
    ['crd', '--help'],
    ['crd', 'apply', '--help'],
    ['help', 'events'],
    ['version', '--help'],
  ])
    it(`shows the name kubectl image-watcher in its help: ${args.join(' ')}`, async () => {
      const { out, err } = await runPlugin(...args);
      assert.match(out + err, /^Usage: kubectl image-watcher /);
      assert.doesNotMatch(out + err, /(?<!kubectl )\bimage-watcher [a-z]+ (?:--|[A-Z\n])/);
    });

  for (const [args, message] of [
    [['gte'], 'there is no command "gte"; did you mean "get"?\nRun kubectl image-watcher --help for the list of commands.\n'],
    [['-x'], 'there is no option -x before a command\nRun kubectl image-watcher --help for the list of commands.\n'],
    [['get', '--wtch'], 'there is no option --wtch; did you mean "--watch"?\nRun kubectl image-watcher get --help for its usage.\n'],
    [['crd', 'apply', '--dance'], 'there is no option --dance\nRun kubectl image-watcher crd apply --help for its usage.\n'],
    [['replay'], 'name the event by its id, which the command events shows\nRun kubectl image-watcher replay --help for its usage.\n'],
  ] as const)
    it(`leads to its own help: ${args.join(' ')}`, async () => {
      assert.deepEqual(await runPlugin(...args), { code: 2, out: '', err: message });
    });
});

describe('the command line', () => {
  for (const args of [
    ['--help'],
    ['help'],
    ['help', 'get'],
    ['serve', '--help'],
    ['crd', '--help'],
    ['crd', 'apply', '-h'],
    ['-n', 'shop', 'get', '--help'],
    ['simulate', '--help'],
  ]) {
    it(`explains itself when called with "${args.join(' ')}"`, async () => {
      const { code, out } = await run(args);
      assert.equal(code, 0);
      assert.match(out, /^Usage: image-watcher/);
    });
  }

  for (const [args, message] of [
    [[], /^Usage:/],
    [['dance'], /^there is no command "dance"\nRun image-watcher --help for the list of commands\.\n$/],
    [['expalin'], /there is no command "expalin"; did you mean "explain"\?/],
    [['events', '--limt', '3'], /^there is no option --limt; did you mean "--limit"\?\nRun image-watcher events --help for its usage\.\n$/],
    [['events', '--limit'], /^--limit needs a value\n/],
    [['check', '-x'], /^there is no option -x\nRun image-watcher check --help for its usage\.\n$/],
    [['-x', 'get'], /^there is no option -x before a command\n/],
    [['-n'], /^there is no option -n before a command\n/],
    [['version', 'now'], /version takes no arguments/],
    [['serve', '--rolls', 'work'], /--rolls/],
    [['serve', '--roles', 'work,dance'], /there is no role "dance"; roles are receive, work, convert/],
    [['serve', 'now'], /takes no arguments/],
    [['crd'], /^use "crd print", "crd apply" or "crd migrate"\nRun image-watcher crd --help/],
    [['crd', 'aply'], /^there is no command "crd aply"; did you mean "apply"\?\nRun image-watcher crd --help/],
    [['crd', 'print', '--kubeconfig', 'x'], /^there is no option --kubeconfig\nRun image-watcher crd print --help/],
    [['import'], /^use "import keel", "import flux" or "import argocd-image-updater"\n/],
    [['crd', 'apply', '--conversion-url', 'http://x'], /--conversion-url is an https URL/],
    [['crd', 'apply', '--conversion-service', 'web'], /--conversion-service is NAMESPACE\/NAME/],
    [['crd', 'apply', '--conversion-service', 'a/b', '--conversion-url', 'https://x'], /exclude each other/],
    [['crd', 'apply', '--v1-only', '--storage', 'v1alpha1'], /--storage and --v1-only exclude each other/],
    [['crd', 'apply', '--ca-file', 'x'], /belongs to an endpoint/],
    [['crd', 'print', '--ca-file', '/does/not/exist'], /^--ca-file .*does not exist/],
    [['crd', 'apply', '--timeout', 'soon'], /--timeout is a duration/],
    [['crd', 'apply', '--serve', 'v2'], /--serve is v1alpha1, not "v2"/],
    [['crd', 'migrate', '--retire', 'v1'], /--retire is v1alpha1, not "v1"/],
    [['crd', 'migrate', '--concurrency', '0'], /--concurrency is a number from 1 to 100/],
    [['crd', 'print', '--output', 'xml'], /--output is text, json or yaml, not "xml"/],
    [['get', '--color', 'red'], /^--color is auto, always or never, not "red"/],
    [['serve', '--config', '/does/not/exist.yaml'], /^\/does\/not\/exist\.yaml: does not exist: create it/],
  ] as const) {
    it(`ends with exit code 2 when called with "${args.join(' ')}"`, async () => {
      const { code, err } = await run([...args]);
      assert.equal(code, 2);
      assert.match(err, message);
      assert.doesNotMatch(err, /\n\s+at /, 'no stack traces for users');
    });
  }

  it('shows its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    for (const args of [['--version'], ['version']])
      assert.match((await run(args)).out, new RegExp(`^image-watcher ${version} \\(Node\\.js `));
    assert.deepEqual(JSON.parse((await run(['version', '--output', 'json'])).out), { version, node: process.versions.node });
  });

  it('reports all problems of a configuration at once, each with its path, and ends with 2', async () => {
    const file = writeConfig(
      'listen: {port: 99999}\nredis: {url: "http://x"}\ncolour: blue\nreceivers:\n  - {name: A, provider: nobody}\n',
    );
    const { code, err } = await run(['serve', '--config', file]);
    assert.equal(code, 2);
    for (const path of ['listen.port', 'redis.url', 'colour', 'receivers[0].name', 'receivers[0].provider']) {
      assert.ok(err.includes(`: ${path}: `), `${path} in ${err}`);
    }
  });

  it('reports missing Kubernetes access, and ends with 2', async () => {
    const file = writeConfig('listen: {port: 0, host: 127.0.0.1}\noperations: {port: 0, host: 127.0.0.1}\n');
    const { code, err } = await run(['serve', '--config', file], { KUBECONFIG: '/does/not/exist' });
    assert.equal(code, 2);
    assert.match(err, /Kubernetes access: .*exist.*KUBECONFIG\n$/);
  });

  it('reports an invalid trust root before anything is opened, and ends with 2', async () => {
    const cluster = { name: 'a', cluster: { server: 'https://127.0.0.1:1' } };
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
    const kubeconfig = { 'current-context': 'a', clusters: [cluster], contexts, users: [{ name: 'a', user: { token: 'a' } }] };
    const KUBECONFIG = writeConfig(JSON.stringify(kubeconfig));
    for (const [trustRootFile, why] of [
      ['/does/not/exist.json', /verification\.trustRootFile: \/does\/not\/exist\.json does not exist: create it/],
      [writeConfig('{}'), /verification\.trustRootFile: .*it is no trusted_root\.json/],
    ] as const) {
      const { code, err } = await run(
        ['serve', '--roles', 'work', '--config', writeConfig(JSON.stringify({ verification: { trustRootFile } }))],
        { KUBECONFIG },
      );
      assert.equal(code, 2);
      assert.match(err, why);
    }
  });

  it('ends with 1 and says why when a port is taken', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const file = writeConfig(`listen: {port: ${port}, host: 127.0.0.1}\noperations: {port: 0, host: 127.0.0.1}\n`);
    const { code, err } = await run(['serve', '--roles', 'receive', '--config', file]);
    server.close();
    assert.equal(code, 1);
    assert.match(err, /^cannot start: .*config\.yaml:1: listen\.port: another process already listens on port \d+ of 127\.0\.0\.1: .*\n$/);
  });

  it('ends without a stack trace when the reader of its output has gone', async () => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [await mainProgram(), 'crd', 'print'], { env: { PATH, NODE_COMPILE_CACHE } });
    // The definition is larger than the buffer of a pipe.
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
    assert.deepEqual([code, err], [141, '']);
  });

  it('prints the CustomResourceDefinitions that are in crd/, all or one', async () => {
    const committed = ['imagepolicies', 'baseimagepolicies', 'baseimagerecords', 'notificationtargets'].map((name) =>
      readFileSync(join(root, `crd/${name}.yaml`), 'utf8'),
    );
    assert.equal((await run(['crd', 'print'])).out, committed.join('---\n'), 'stale: run "npm run generate"');
    const items = committed.map((text) => parse(text) as object);
    const json = await run(['crd', 'print', '--output', 'json']);
    assert.deepEqual(JSON.parse(json.out), { apiVersion: 'v1', kind: 'List', items });
    for (const [index, kind] of ['ImagePolicy', 'BaseImagePolicy', 'BaseImageRecord', 'NotificationTarget'].entries()) {
      assert.equal((await run(['crd', 'print', '--kind', kind])).out, committed[index]);
      assert.deepEqual(JSON.parse((await run(['crd', 'print', '--kind', kind, '-o', 'json'])).out), items[index]);
    }
  });

  describe('crd apply', () => {
    let cluster: ControlPlane;
    let endpoint: ConversionEndpoint;
    before(async () => {
      [cluster, endpoint] = await Promise.all([borrowControlPlane(), startConversionEndpoint(convertReview)]);
    });
    after(() => Promise.all([cluster.stop(), endpoint.stop()]));

    it('creates the resource, which is then served, and does nothing the second time', async () => {
      const env = { KUBECONFIG: cluster.kubeconfigPath };
      const first = await run(['crd', 'apply', '--conversion-url', endpoint.url, '--ca-file', endpoint.caFile], env);
      const names = ['imagepolicies', 'baseimagepolicies', 'baseimagerecords', 'notificationtargets'].map(
        (plural) => `${plural}.operator.technomad.dev`,
      );
      assert.deepEqual([first.code, first.out], [0, names.map((name) => `customresourcedefinition ${name} created\n`).join('')]);
      const second = await run(['crd', 'apply', '--kubeconfig', cluster.kubeconfigPath, '-o', 'json']);
      assert.deepEqual(
        JSON.parse(second.out),
        names.map((name) => ({ name, action: 'unchanged' })),
      );
      assert.equal(second.err, '');
      const sample = {
        apiVersion: 'operator.technomad.dev/v1alpha1',
        kind: 'ImagePolicy',
        metadata: { name: 'base-java-updater' },
        spec: {
          repository: 'library/openjdk',
          tagPolicy: { strategy: 'SemVer' },
          updateTarget: { kind: 'Deployment', name: 'my-java-app', namespace: 'default' },
          pollIntervalMinutes: 5,
        },
      };
      await cluster.request('POST', '/apis/operator.technomad.dev/v1alpha1/namespaces/default/imagepolicies', sample);
      const { spec: _, ...without } = sample;
      await cluster.request('POST', '/apis/operator.technomad.dev/v1alpha1/namespaces/default/imagepolicies', {
        ...without,
        metadata: { name: 'without-spec' },
      });
    });

    it('ends with 1 and says why when the API server does not answer', async () => {
      const file = join(tempFolder('kubeconfig'), 'config');
      writeFileSync(file, readFileSync(cluster.kubeconfigPath, 'utf8').replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'));
      const { code, err } = await run(['crd', 'apply'], { KUBECONFIG: file });
      assert.equal(code, 1);
      assert.match(err, /applying .* failed: .*ECONNREFUSED/);
    });
  });
});
