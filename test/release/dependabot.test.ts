/** Whatever comes from outside is pinned, and something proposes the newer ones. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { pinText } from './pin-images.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
interface Update {
  readonly 'package-ecosystem': string;
  readonly directory?: string;
  readonly directories?: readonly string[];
}
const { updates } = parse(read('.github/dependabot.yml')) as { updates: readonly Update[] };
const watched = new Set(
  updates.flatMap(({ 'package-ecosystem': ecosystem, directory, directories = directory === undefined ? [] : [directory] }) =>
    directories.map((one) => `${ecosystem} ${one}`),
  ),
);
const found = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (path) => /node_modules|^\.git$/.test(path) }).map((file) =>
    dirname(join('/', relative('.', file))),
  );

test('Dependabot watches every file that names something from outside', () => {
  const wanted = [
    ...found('**/package-lock.json').map((folder) => `npm ${folder}`),
    ...found('**/Dockerfile').map((folder) => `docker ${folder}`),
    ...found('**/docker-compose.yml').map((folder) => `docker-compose ${folder}`),
    ...found('charts/**/values.yaml').map((folder) => `helm ${folder}`),
    'github-actions /',
  ];
  assert.ok(wanted.length > 5);
  assert.deepEqual([...watched].sort(), [...new Set(wanted)].sort());
  for (const one of watched) assert.ok(existsSync(join(root, one.split(' ')[1] ?? '')), one);
});

test('a release pins every image of others to a digest, whatever was pinned before', async () => {
  const asked: string[] = [];
  const digestOf = (letter: string) => async (image: string) => {
    asked.push(image);
    return `sha256:${letter.repeat(64)}`;
  };
  for (const file of ['Dockerfile', 'docker-compose.yml', 'charts/image-watcher/values.yaml']) {
    const once = await pinText(file, read(file), digestOf('a'));
    const again = await pinText(file, once, digestOf('b'));
    assert.ok(!again.includes('a'.repeat(64)), file);
    const names = again.split('\n').filter((line) => /(?:docker\.io|gcr\.io)\/\S+:/.test(line) && !line.trim().startsWith('#'));
    for (const line of names) assert.ok(line.includes(`@sha256:${'b'.repeat(64)}`), line);
    assert.equal(again.replaceAll(/@?sha256:b{64}/g, '').replaceAll("digest: ''", ''), read(file).replaceAll("digest: ''", ''), file);
  }
  const images = new Set(asked);
  for (const name of ['docker.io/library/node:', 'gcr.io/distroless/', 'docker.io/valkey/valkey:', 'docker.io/library/registry:'])
    assert.ok(
      [...images].some((image) => image.startsWith(name)),
      name,
    );
  const { jobs } = parse(read('.github/workflows/release.yml')) as { jobs: { publish: { steps: { run?: string; uses?: string }[] } } };
  const { steps } = jobs.publish;
  const pin = steps.findIndex(({ run }) => run?.includes('test/release/pin-images.ts'));
  const build = steps.findIndex(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  assert.ok(pin >= 0 && pin < build);
});
