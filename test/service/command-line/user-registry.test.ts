/** Commands reach registries through the proxies of their environment, and say why they do not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeError } from '../../../src/core/model/errors.ts';
import { openRegistry } from '../../../src/service/command-line/user-registry.ts';
import { ConfigError } from '../../../src/service/config/config-error.ts';
import { readConfig } from '../../../src/service/config/settings.ts';
import { startForwardProxy } from '../../harness/forward-proxy.ts';
import { freePort } from '../../harness/free-port.ts';

const ask = async (env: Readonly<Record<string, string>>) => {
  const kept = { ...process.env };
  for (const name of Object.keys(process.env)) if (/_proxy$/i.test(name)) delete process.env[name];
  Object.assign(process.env, env);
  try {
    const { registry } = openRegistry(readConfig({ env: {} }), '/dev/null');
    const asked = await registry
      .listTags({ registry: 'registry.example.invalid', path: 'shop/web' })
      .catch((error: unknown) => (error instanceof Error ? error.message : ''));
    await registry.close();
    return asked;
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name];
    Object.assign(process.env, kept);
  }
};

test('HTTPS_PROXY is used for a registry of the user, and NO_PROXY excepts hosts', async (t) => {
  const proxy = await startForwardProxy({ hosts: {} });
  t.after(() => proxy.stop());
  assert.match(
    String(await ask({ HTTPS_PROXY: proxy.url })),
    /the proxy http:\S+ \(HTTPS_PROXY\) answered 502 to CONNECT registry\.example\.invalid:443/,
  );
  assert.deepEqual(proxy.targets(), ['CONNECT registry.example.invalid:443']);
  assert.match(String(await ask({ HTTPS_PROXY: proxy.url, NO_PROXY: '.invalid' })), /DNS (?:does not know its name|did not answer)/);
  assert.equal(proxy.requests.length, 1);
});

test('an invalid proxy variable is refused without quoting its password', async () => {
  await assert.rejects(
    ask({ https_proxy: 'socks5://me:secret@proxy:1080' }),
    (error) => error instanceof ConfigError && !error.message.includes('secret'),
  );
});

describe('the failure of a registry at a private address', () => {
  const askedWith = async (onDetails?: (why: string) => void) => {
    const host = `127.0.0.1:${await freePort()}`;
    const { registry } = openRegistry(readConfig({ env: {} }), '/dev/null', [], onDetails);
    const error = await registry.listTags({ registry: host, path: 'shop/web' }).then(() => assert.fail('it was answered'), describeError);
    await registry.close();
    return { host, error };
  };

  test('is explained to the user, who sends the request', async () => {
    const { host, error } = await askedWith();
    assert.match(error, new RegExp(`cannot connect to ${host}: the connection was refused by ${host} `));
  });

  test('is explained apart from the error, if others may read the error', async () => {
    const details: string[] = [];
    const { host, error } = await askedWith((why) => details.push(why));
    assert.match(error, /It leads to a private address, for which no details are shown here/);
    assert.match(details.join('\n'), new RegExp(`^${host}: .*the connection was refused by ${host} `));
  });
});
