import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import type { ConfigSource } from '../../../src/service/config/environment.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const folder = tempFolder('traces-config');

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const load = (traces: string, env: ConfigSource['env'] = {}) =>
  loadSettings({ file: write('config.yaml', traces === '' ? '' : `traces: ${traces}`), env }).traces;

test('traces are off unless the file or the environment names an endpoint', () => {
  assert.equal(load(''), undefined);
  const traces = load('{endpoint: "http://collector:4318", headers: {Authorization: {env: KEY}}, sampleRatio: 0.5}', { KEY: 'Bearer abc' });
  assert.deepEqual(
    [traces?.endpoint, traces?.sampleRatio, traces?.headers()],
    ['http://collector:4318', 0.5, { Authorization: 'Bearer abc' }],
  );
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otlp.example.com' };
  assert.deepEqual([load('', env)?.endpoint, load('', env)?.sampleRatio], ['https://otlp.example.com', 1]);
  assert.equal(load('{endpoint: "http://collector:4318"}', env)?.endpoint, 'https://otlp.example.com');
});

test('the headers of traces are read again for each use', () => {
  const file = write('key', 'first\n');
  const traces = load(`{endpoint: "http://collector:4318", headers: {x-key: {file: ${file}}}}`);
  assert.deepEqual(traces?.headers(), { 'x-key': 'first' });
  write('key', 'second');
  assert.deepEqual(traces?.headers(), { 'x-key': 'second' });
});

for (const [what, text, path] of [
  ['no endpoint', '{sampleRatio: 1}', 'traces.endpoint'],
  ['an endpoint without a scheme', '{endpoint: "collector:4317"}', 'traces.endpoint'],
  ['a password in the endpoint', '{endpoint: "https://me:pw@collector"}', 'traces.endpoint'],
  ['a header with its value', '{endpoint: "http://c:4318", headers: {x-key: abc}}', 'traces.headers.x-key'],
  ['a header whose value is not there', '{endpoint: "http://c:4318", headers: {x-key: {env: NO}}}', 'traces.headers.x-key'],
  ['more than everything', '{endpoint: "http://c:4318", sampleRatio: 2}', 'traces.sampleRatio'],
] as const)
  test(`the configuration of traces with ${what} is refused`, () =>
    assert.throws(
      () => load(text),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual([...new Set(error.problems.map((problem) => problem.path))], [path]);
        return !error.message.includes('pw') && !error.message.includes('abc');
      },
    ));
