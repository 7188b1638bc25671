import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

test('the YAML files of a folder are read in the order of their names, with mappings merged and everything else replaced', () => {
  const parts = tempFolder('config');
  const writePart = (name: string, text: string) => writeFileSync(join(parts, name), text);
  writePart('10-base.yaml', 'redis: {url: "redis://base:6379", prefix: base}\nwatch: {namespaces: [a, b]}\n');
  writePart('20-own.yaml', 'redis: {prefix: own}\nwatch: {namespaces: [c]}\nlog: {level: debug}\n');
  writePart('30-empty.yaml', '');
  for (const name of ['notes.txt', '.hidden.yaml']) writePart(name, 'is no: setting');
  const { redis, watch, log } = loadSettings({ file: parts, env: {} }).config;
  assert.deepEqual([redis.url, redis.prefix, watch.namespaces, log.level], ['redis://base:6379', 'own', ['c'], 'debug']);
  writePart('40-list.yaml', '- 1');
  assert.throws(() => loadSettings({ file: parts, env: {} }), /must hold settings as keys and values/);
  writePart('40-list.yaml', 'a: [');
  assert.throws(() => loadSettings({ file: parts, env: {} }), /40-list\.yaml/);
});
