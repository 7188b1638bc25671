/** What `npm pack` makes, and that it runs where it is installed: below node_modules, where Node runs no TypeScript by itself. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import { tempFolder } from './harness/temp-folder.ts';

const root = join(import.meta.dirname, '..');
let files: string[];
before(async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    maxBuffer: 16 << 20,
  });
  const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
  files = packed?.files.map(({ path }) => path) ?? [];
});

test('the package contains the program, the definition, the documentation and the licence, and nothing else', () => {
  for (const file of [
    'bin/image-watcher.mjs',
    'src/main.ts',
    'crd/imagepolicies.yaml',
    'docs/quickstart.md',
    'docs/receivers/harbor.md',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
  ])
    assert.ok(files.includes(file), file);
  const allowed =
    /^(?:bin\/|src\/.*\.(?:ts|md)$|src\/dashboard\/assets\/|crd\/|docs\/(?!templates\/).+\.md$|(?:README(?:\.zh-CN)?|CHANGELOG)\.md$|LICENSE$|package\.json$)/;
  assert.deepEqual(
    files.filter((file) => !allowed.test(file)),
    [],
  );
});

test('the program runs where the package is installed', async () => {
  const folder = tempFolder('package');
  const installed = join(folder, 'node_modules/image-watcher');
  for (const file of files) {
    mkdirSync(dirname(join(installed, file)), { recursive: true });
    cpSync(join(root, file), join(installed, file));
  }
  symlinkSync(realpathSync(join(root, 'node_modules')), join(installed, 'node_modules'));
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(installed, 'bin/image-watcher.mjs'), ...args], { cwd: folder });
  const help = await run('--help');
  assert.match(help.stdout, /^Usage: image-watcher/);
  const crd = await run('crd', 'print', '--v1-only');
  assert.match(crd.stdout, /^kind: CustomResourceDefinition$/m);
  assert.deepEqual([help.stderr, crd.stderr], ['', '']);
  await assert.rejects(run('dance'), { code: 2 });
  const description = join(installed, 'package.json');
  writeFileSync(description, readFileSync(description, 'utf8').replace(/"node": ">=[\d.]+"/, '"node": ">=99.1"'));
  await assert.rejects(run('version'), { code: 2, stderr: /^image-watcher needs Node 99\.1 or newer; this is Node \d[^\n]*\n$/ });
});
