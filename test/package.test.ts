/** What `npm pack` makes, and that it runs where it is installed: below node_modules, where Node runs no TypeScript by itself. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from './harness/temp-folder.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const folder = tempFolder('package');
const installed = join(folder, 'node_modules/image-watcher');
let files: string[];
before(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, maxBuffer: 16 << 20 });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  files = packed?.files.map(({ path }) => path) ?? [];
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, packed?.filename ?? ''), '--strip-components=1', '-C', installed]);
  symlinkSync(realpathSync(join(root, 'node_modules')), join(installed, 'node_modules'));
});

test('the package contains the program, the definition, the documentation and the licence, and nothing else', () => {
  for (const file of [
    'bin/image-watcher.mjs',
    'dist/main.js',
    'dist/assets/dashboard.js',
    'crd/imagepolicies.yaml',
    'docs/quickstart.md',
    'docs/receivers/harbor.md',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ])
    assert.ok(files.includes(file), file);
  const allowed = /^(?:bin\/|dist\/|crd\/|docs\/(?!templates\/).+\.md$|(?:README(?:\.zh-CN)?|CHANGELOG)\.md$|LICENSE$|package\.json$)/;
  assert.deepEqual(
    files.filter((file) => !allowed.test(file)),
    [],
  );
});

test('the package contains the licence of each package that is joined with the program', () => {
  const licences = readFileSync(join(installed, 'dist/LICENSES.txt'), 'utf8');
  for (const name of [
    '@kubernetes/client-node',
    'bullmq',
    'commander',
    'fastify',
    'ioredis',
    'jose',
    'openid-client',
    'undici',
    'yaml',
    'zod',
  ])
    assert.match(licences, new RegExp(`^${name} [0-9.]+ \\((?:MIT|ISC|Apache-2\\.0)\\)$`, 'm'), name);
});

test('the package contains only those parts of client-node that the program uses', () => {
  for (const file of files.filter((path) => path.endsWith('.js')))
    assert.doesNotMatch(readFileSync(join(installed, file), 'utf8'), /class _?V1Pod\b/, file);
});

test('the files of the package import neither http nor https of Node, which load modules that nothing uses', () => {
  for (const file of files.filter((path) => /^dist\/[^/]*\.js$/.test(path)))
    assert.doesNotMatch(readFileSync(join(installed, file), 'utf8'), /\bimport\b[^'"`;]*["'](?:node:)?https?["']/, file);
});

test('the program runs where the package is installed', async () => {
  const start = (...args: string[]) => run(process.execPath, [join(installed, 'bin/image-watcher.mjs'), ...args], { cwd: folder });
  const help = await start('--help');
  assert.match(help.stdout, /^Usage: image-watcher/);
  const crd = await start('crd', 'print', '--v1-only');
  assert.match(crd.stdout, /^kind: CustomResourceDefinition$/m);
  assert.deepEqual([help.stderr, crd.stderr], ['', '']);
  await assert.rejects(start('dance'), { code: 2 });
  writeFileSync(
    join(folder, 'kubeconfig'),
    'clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}]\ncontexts: [{name: here, context: {cluster: a}}]\n',
  );
  const elsewhere = start('get', '--kubeconfig', join(folder, 'kubeconfig'), '--context', 'elsewhere');
  await assert.rejects(elsewhere, { stderr: /the kubeconfig has no context "elsewhere"; it has here/ });
  const description = join(installed, 'package.json');
  writeFileSync(description, readFileSync(description, 'utf8').replace(/"node": ">=[\d.]+"/, '"node": ">=99.1"'));
  await assert.rejects(start('version'), { code: 2, stderr: /^image-watcher needs Node 99\.1 or newer; this is Node \d[^\n]*\n$/ });
});
