import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { loadSettings } from '../../../src/service/config/settings.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const folder = tempFolder('config');

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const load = (proxy: string) => loadSettings({ file: write('config.yaml', `operations: {auth: proxy, proxy: ${proxy}}`), env: {} });

for (const [about, proxy] of [
  ['no secret', '{}'],
  ['an address alone', '{trustedPeers: [10.1.2.3]}'],
  ['a secret that can be guessed', `{secret: {file: ${write('short', 'fifteen letters')}}}`],
  ['a variable that is not set', '{secret: {env: NOT_SET}}'],
  ['a file that is not there', '{secret: {file: /nonexistent}}'],
] as const) {
  test(`a proxy in front of the API with ${about} is a problem of operations.proxy.secret`, () => {
    const isOne = (error: unknown) =>
      error instanceof ConfigError && error.problems.map(({ path }) => path).join() === 'operations.proxy.secret';
    assert.throws(() => load(proxy), isOne);
  });
}

test('a proxy in front of the API is authenticated by a secret, whose file may change', () => {
  const file = write('proxy', 'what only the proxy knows\n');
  const { config, proxySecret } = load(`{secret: {file: ${file}}}`);
  assert.deepEqual([config.operations.proxy.groupsHeader, proxySecret()], [undefined, 'what only the proxy knows']);
  write('proxy', 'what it knows from now on');
  assert.equal(proxySecret(), 'what it knows from now on');
  rmSync(file);
  assert.equal(proxySecret(), 'what it knows from now on');
});
