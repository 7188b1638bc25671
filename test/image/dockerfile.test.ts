/** What the Dockerfile promises and no engine is needed for; `npm run test:image` builds and runs it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configSchema } from '../../src/service/config/schema.ts';
import { leanEnvironment, leanOptions } from '../../src/cli/lean-start.ts';
import { imageEnvironment, readNodeOptions } from '../harness/image-start.ts';
import { namedBases } from './base-images.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('Dockerfile');

test('the image runs the Node that the tests run with', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
  assert.match(namedBases()['NODE_IMAGE'] ?? '', new RegExp(`/node:${packages['node_modules/node']?.version}-`));
});

test('the image starts Node with the settings of serve, so that serve need not restart it', () => {
  assert.deepEqual(readNodeOptions(), leanOptions);
  assert.deepEqual(imageEnvironment(), { NODE_ENV: 'production', ...leanEnvironment });
});

test('every base image has a fixed version', () => {
  const bases = Object.values(namedBases());
  assert.equal(bases.length, 3);
  assert.equal(namedBases()['BUILD_IMAGE'], namedBases()['NODE_IMAGE']);
  for (const base of bases) assert.doesNotMatch(base, /:latest$|^[^:]+$/);
  assert.deepEqual(
    [...dockerfile.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, from]) => from),
    [...bases, '${NODE_IMAGE}', '${BUILD_IMAGE}', '${BUILD_IMAGE}', '${BASE_IMAGE}'],
  );
});

test('the Dockerfile fetches no frontend, and names no registry', () => {
  assert.doesNotMatch(dockerfile, /^# *syntax=/m);
  assert.doesNotMatch(dockerfile, /npm config|_authToken|--registry/);
});

test('the image exposes the ports of the configuration', () => {
  const { listen, operations, conversion } = configSchema.parse({});
  const [, ports = ''] = /^EXPOSE (.*)$/m.exec(dockerfile) ?? [];
  assert.deepEqual(ports.split(' ').map(Number), [listen.port, operations.port, conversion.port]);
});

test('.dockerignore admits exactly the files that the Dockerfile copies', () => {
  const allowed = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path);
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
  assert.deepEqual(allowed.sort(), [...new Set(copied)].sort());
});

test('the program needs no package that the image omits', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { optional?: boolean }> };
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => packages[`node_modules/${name}`]?.optional),
    [],
  );
});
