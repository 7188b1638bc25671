/** Where the record of activity is kept: the setting `record`. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings, readRecordSettings } from '../../../src/service/config/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'record-config-'));
function sourceOf(text: string, env: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return { file, env };
}

test('the record is off unless a place is set', () => {
  assert.equal(loadSettings(sourceOf('{}')).record, undefined);
  assert.equal(readRecordSettings(sourceOf('{}')), undefined);
});

test('the record is configured with a folder and an interval', () => {
  for (const read of [(text: string) => loadSettings(sourceOf(text)).record, (text: string) => readRecordSettings(sourceOf(text))]) {
    assert.deepEqual(read('record: {folder: /data}'), { intervalMs: 60_000, place: { folder: '/data' } });
    assert.deepEqual(read('record: {folder: /data, interval: 10s}'), { intervalMs: 10_000, place: { folder: '/data' } });
  }
});

test('the record is configured with a bucket of Amazon by the identity of the pod, or another one with a rotating key', () => {
  assert.deepEqual(readRecordSettings(sourceOf('record: {s3: {bucket: audit, region: eu-central-1, prefix: a/b/}}'))?.place, {
    bucket: 'audit',
    region: 'eu-central-1',
    prefix: 'a/b/',
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
  });
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'first\n');
  const text = `record: {s3: {bucket: audit, endpoint: "https://minio:9000", accessKeyId: {env: ID}, secretAccessKey: {file: ${secret}}}}`;
  const place = readRecordSettings(sourceOf(text, { ID: 'id' }))?.place;
  assert.ok(place !== undefined && 'key' in place);
  assert.deepEqual([place.endpoint, place.key?.()], ['https://minio:9000', { accessKeyId: 'id', secretAccessKey: 'first' }]);
  writeFileSync(secret, 'second\n');
  assert.equal(place.key?.().secretAccessKey, 'second');
});

for (const [what, text, paths] of [
  ['no place', 'record: {}', ['record']],
  ['two places', 'record: {folder: /data, s3: {bucket: audit}}', ['record']],
  ['half a key', 'record: {s3: {bucket: audit, accessKeyId: {env: ID}}}', ['record.s3']],
  [
    'a key that is not there',
    'record: {s3: {bucket: audit, accessKeyId: {env: A}, secretAccessKey: {env: B}}}',
    ['accessKeyId', 'secretAccessKey'].map((key) => `record.s3.${key}`),
  ],
  ['a password in the URL', 'record: {s3: {bucket: audit, endpoint: "https://a:b@minio"}}', ['record.s3.endpoint']],
  ['another protocol', 'record: {s3: {bucket: audit, endpoint: "file:///etc"}}', ['record.s3.endpoint']],
  [
    'names that lead elsewhere',
    'record: {s3: {bucket: "../x", prefix: "../y/", region: "a/b"}}',
    ['bucket', 'prefix', 'region'].map((key) => `record.s3.${key}`),
  ],
  ['an interval that floods the place', 'record: {folder: /data, interval: 10ms}', ['record.interval']],
  ['an interval that keeps everything in Redis', 'record: {folder: /data, interval: 24h}', ['record.interval']],
] as const)
  test(`the configuration of the record with ${what} is refused`, () => {
    assert.throws(
      () => loadSettings(sourceOf(text)),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(error.problems.map(({ path }) => path).sort(), [...paths].sort());
        return true;
      },
    );
  });
