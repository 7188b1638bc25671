import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { CachedBinary } from './binary-cache.ts';
import { tempFolder } from './temp-folder.ts';
import type { Tool } from './tools.ts';

const tool: Tool = {
  id: 'pear',
  names: ['pear'],
  versionPattern: /^pear (\d+)\.(\d+)/,
  oldest: { major: 2, minor: 0 },
  advice: 'plant a tree',
};

const program = (version: string) => async (path: string) => writeFileSync(path, `#!/bin/sh\necho pear ${version}\n`);

beforeEach(() => {
  process.env['IMAGE_WATCHER_CACHE'] = tempFolder('cache');
});

test('a program that was built once is found in the cache', async () => {
  const cached = new CachedBinary(tool, 'v2.1');
  assert.equal(await cached.find(), undefined);
  const made = await cached.findOrMake(program('2.1'));
  assert.deepEqual(await cached.find(), made);
  assert.deepEqual(made.version, { major: 2, minor: 1 });
});

test('only one of several simultaneous callers builds a program', async () => {
  let times = 0;
  const make = async (path: string) => {
    times++;
    await program('2.1')(path);
  };
  const cached = () => new CachedBinary(tool, 'v2.1').findOrMake(make);
  await Promise.all([cached(), cached(), cached()]);
  assert.equal(times, 1);
});

test('a lock of the cache whose owner died is taken over', async () => {
  const cached = new CachedBinary(tool, 'v2.1');
  const { path } = await cached.findOrMake(program('2.1'));
  // No process has this id: it is above what Linux and macOS give out.
  writeFileSync(join(path, '..', 'lock'), '99999999');
  assert.equal((await cached.findOrMake(program('2.1'))).path, path);
});

test('a program that was changed after its build is not used from the cache', async () => {
  const cached = new CachedBinary(tool, 'v2.1');
  const { path } = await cached.findOrMake(program('2.1'));
  appendFileSync(path, 'echo changed\n');
  assert.equal(await cached.find(), undefined);
});

test('a program with an old version or another name is refused and not cached', async () => {
  const cached = new CachedBinary(tool, 'v2.1');
  await assert.rejects(cached.findOrMake(program('1.9')), /older than 2\.0/);
  await assert.rejects(
    cached.findOrMake(async (path) => writeFileSync(path, '#!/bin/sh\necho apple 3.0\n')),
    /is not the pear we need/,
  );
  assert.equal(await cached.find(), undefined);
});
