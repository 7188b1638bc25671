import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { redisAddressOf } from '../../../src/service/compose/redis.ts';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const file = join(tempFolder('config'), 'config.yaml');

function load(redis: string) {
  writeFileSync(file, `redis: ${redis}`);
  return loadSettings({ file, env: { REDIS_SENTINEL_PASSWORD: 'of-the-sentinels' } });
}

test('the settings of Redis behind Sentinels are read', () => {
  const { config, sentinelPassword } = load('{url: "redis://main", sentinels: [a:26379, b]}');
  assert.deepEqual(config.redis.sentinels, ['a:26379', 'b']);
  assert.equal(sentinelPassword, 'of-the-sentinels');
});

test('a password can be in a file while the user is in the URL', () => {
  const passwordFile = join(tempFolder('redis'), 'password');
  writeFileSync(passwordFile, 'a p@ss/word\n');
  const settings = load(`{url: "redis://user@redis:6379/1", password: {file: ${passwordFile}}}`);
  assert.deepEqual(redisAddressOf(settings), {
    url: 'redis://user:a%20p%40ss%2Fword@redis:6379/1',
    sentinels: [],
    cluster: false,
    sentinelPassword: 'of-the-sentinels',
  });
});

for (const [what, redis, path] of [
  ['a Cluster', '{cluster: true}', undefined],
  ['two passwords', '{url: "redis://:one@redis", password: {env: REDIS_SENTINEL_PASSWORD}}', 'redis.password'],
  ['a password that is not there', '{password: {file: /nonexistent}}', 'redis.password'],
  ['Sentinels of a Cluster', '{cluster: true, sentinels: [a]}', 'redis.sentinels'],
  ['keys in several slots', '{cluster: true, prefix: image-watcher}', 'redis.prefix'],
  ['a database of a Cluster', '{cluster: true, url: "redis://redis/3"}', 'redis.url'],
] as const) {
  test(`the configuration ${path === undefined ? `accepts ${what}` : `refuses ${what} as a problem of ${path}`}`, () => {
    if (path === undefined) return assert.equal(load(redis).config.redis.cluster, true);
    const hasOneProblem = (error: unknown) => error instanceof ConfigError && error.problems.map((one) => one.path).join() === path;
    return assert.throws(() => load(redis), hasOneProblem);
  });
}
