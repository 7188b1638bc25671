import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSettings, readConfig, readProxies } from '../../../src/service/config/settings.ts';
import type { ConfigSource } from '../../../src/service/config/environment.ts';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { tempFolder } from '../../harness/temp-folder.ts';

const folder = tempFolder('proxies-config');

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const sourceOf = (registries: string, env: ConfigSource['env']): ConfigSource => ({
  file: write('config.yaml', `registries: ${registries}`),
  env,
});
const load = (env: ConfigSource['env'], registries = '[]') => loadSettings(sourceOf(registries, env)).proxies;

test('there are no proxies unless the environment or a registry names one', () => {
  assert.deepEqual(load({}), { http: undefined, https: undefined, noProxy: '', registries: new Map() });
  assert.deepEqual(load({ HTTPS_PROXY: '', http_proxy: ' ' }).https, undefined);
});

test('proxy variables in lower case come first, even if they are empty', () => {
  const upper = { HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:1', NO_PROXY: 'upper' };
  const proxies = load({ ...upper, http_proxy: 'c:1', no_proxy: 'lower' });
  assert.deepEqual(
    [proxies.http?.name, proxies.https?.name, proxies.noProxy],
    ['http://c:1 (http_proxy)', 'http://b:1 (HTTPS_PROXY)', 'lower'],
  );
  assert.equal(load({ ...upper, https_proxy: '' }).https, undefined);
});

test('a registry has a proxy of its own, or none', () => {
  const file = write('proxy', 'http://me:secret@c.example.com:3128\n');
  const registries = `[{host: a.example.com, proxy: none}, {host: b.example.com, proxy: "http://b:3128"}, {host: c.example.com, proxy: {file: ${file}}}, {host: d.example.com}]`;
  assert.deepEqual(
    [...load({}, registries).registries].map(([host, proxy]) => [host, proxy === 'none' ? proxy : proxy.name]),
    [
      ['a.example.com', 'none'],
      ['b.example.com', 'http://b:3128 (registries[].proxy)'],
      ['c.example.com', 'http://c.example.com:3128 (registries[].proxy)'],
    ],
  );
  const read = sourceOf('[{host: a.example.com, proxy: {env: OWN}}]', { OWN: 'http://me:secret@own:3128' });
  assert.deepEqual(readProxies(readConfig(read), read).registries.get('a.example.com'), {
    url: 'http://me:secret@own:3128/',
    name: 'http://own:3128 (registries[].proxy)',
  });
});

for (const [what, env, registries, path] of [
  ['a SOCKS proxy', { HTTPS_PROXY: 'socks5://me:secret@proxy:1080' }, '[]', 'HTTPS_PROXY'],
  ['what is no URL', { http_proxy: 'http://a b:secret' }, '[]', 'http_proxy'],
  ['a password in the configuration', {}, '[{host: a.example.com, proxy: "http://me:secret@proxy:3128"}]', 'registries[0].proxy'],
  ['another kind of proxy', {}, '[{host: a.example.com, proxy: "socks5://proxy:1080"}]', 'registries[0].proxy'],
  ['a proxy that is not there', {}, '[{host: a.example.com, proxy: {env: SECRET}}]', 'registries[0].proxy'],
  ['a reference to what is no proxy', { OWN: 'secret:x' }, '[{host: a.example.com, proxy: {env: OWN}}]', 'registries[0].proxy'],
] as const)
  test(`the configuration refuses ${what}, and does not quote it`, () =>
    assert.throws(
      () => load(env, registries),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(
          error.problems.map((problem) => problem.path || problem.where.replace('the environment variable ', '')),
          [path],
        );
        return !error.message.includes('secret');
      },
    ));
