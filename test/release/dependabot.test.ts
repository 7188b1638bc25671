/** Whatever comes from outside is pinned, and something proposes the newer ones. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

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

test('Dependabot watches every file that names an external package, image or action', () => {
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

test('every external image is pinned to a digest, and the chart runs the Redis that Dependabot proposes', () => {
  const digest = '@sha256:[0-9a-f]{64}';
  const lines = (file: string, pattern: RegExp) => [...read(file).matchAll(pattern)].map(([, image = '']) => image);
  const bases = lines('Dockerfile', /^FROM (?:--platform=\S+ )?([a-z]\S+\/\S+) AS /gm);
  const services = lines('docker-compose.yml', /^ +image: (\S+)$/gm).filter((image) => image !== 'image-watcher:dev');
  assert.deepEqual([bases.length, services.length], [3, 2]);
  for (const image of [...bases, ...services]) assert.match(image, new RegExp(`:[\\w.-]+${digest}$`));
  const { redis } = parse(read('charts/image-watcher/values.yaml')) as {
    redis: { embedded: { image: { repository: string; tag: string; digest: string } } };
  };
  const { repository, tag } = redis.embedded.image;
  assert.ok(services.includes(`${repository}:${tag}`));
});
