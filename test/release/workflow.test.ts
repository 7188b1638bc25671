import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { lacksHelm } from '../harness/binaries.ts';
import { runCommand } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('the workflow runs all checks first, and has permissions only where it needs them', () => {
  const { jobs, permissions } = parse(read('.github/workflows/release.yml')) as {
    jobs: Record<string, { uses?: string; needs?: string | string[]; permissions?: object; steps?: { uses?: string; run?: string }[] }>;
    permissions: object;
  };
  assert.deepEqual(permissions, { contents: 'read' });
  assert.equal(jobs['check']?.uses, './.github/workflows/ci.yml');
  assert.deepEqual([jobs['publish']?.needs, jobs['executables']?.needs], [['check', 'executables'], 'check']);
  assert.ok(jobs['publish']?.steps?.some(({ run = '' }) => run.includes('test/release/version-problems.ts')));
  // What people choose the name of (tags, branches) is never a part of a script.
  for (const { run = '' } of jobs['publish']?.steps ?? []) assert.doesNotMatch(run, /\$\{\{ *(?:github\.ref_name|github\.head_ref)/);
});

test(
  'the workflow writes its repository and the digest of its image into chart, manifests and pages',
  { skip: (await lacksHelm()) ?? false },
  async () => {
    const { jobs } = parse(read('.github/workflows/release.yml')) as { jobs: { publish: { steps: { run?: string }[] } } };
    const scripts = jobs.publish.steps.map(({ run = '' }) => run);
    const script = scripts.find((run) => run.includes('npm run generate')) ?? assert.fail('nothing generates');
    const published = ['charts/install/base/install.yaml', 'charts/install/definition-v1.yaml'];
    for (const path of published) assert.ok(scripts.at(-1)?.includes(path), path);
    for (const use of ['helm package', 'cosign sign-blob', 'gh release create'])
      assert.ok(scripts.findIndex((run) => run.includes(use)) > scripts.indexOf(script), `${use} comes after it`);

    const copy = tempFolder('release');
    cpSync(root, copy, { recursive: true, filter: (path) => !/^(?:node_modules|\.git)$/.test(relative(root, path)) });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const DIGEST = `sha256:${'d1'.repeat(32)}`;
    const env = { ...process.env, DIGEST, GITHUB_REPOSITORY: 'Some-Fork/image-watcher', NAMESPACE: 'ghcr.io/some-fork' };
    await runCommand('bash', ['-euo', 'pipefail', '-c', script], { cwd: copy, env });

    const written = (path: string) => readFileSync(join(copy, path), 'utf8');
    const { image } = parse(written('charts/image-watcher/values.yaml')) as { image: object };
    assert.deepEqual({ ...image }, { repository: 'ghcr.io/some-fork/image-watcher', tag: '', digest: DIGEST, pullPolicy: 'IfNotPresent' });
    const images = [...written('charts/install/base/install.yaml').matchAll(/^ +image: (.*)$/gm)].map(([, one]) => one);
    const [, redisImage] = /image: (docker\.io\/valkey\/\S+)/.exec(read('docker-compose.yml')) ?? [];
    assert.deepEqual(new Set(images), new Set([`ghcr.io/some-fork/image-watcher@${DIGEST}`, redisImage]));
    for (const path of ['docs/operations/upgrades.md', 'docs/installation.md', 'README.md', 'charts/image-watcher/Chart.yaml']) {
      assert.match(written(path), /github\.com\/Some-Fork\/image-watcher/, path);
      assert.doesNotMatch(written(path), /technomad\/image-watcher/, path);
    }
  },
);
