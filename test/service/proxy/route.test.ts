/** Which proxy a request goes through. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseProxy, type Proxy } from '../../../src/core/model/proxy.ts';
import { createRegistryRoute, createRoutes, describeVia } from '../../../src/service/proxy/route.ts';

const http = parseProxy('http://plain.example.com:3128', 'HTTP_PROXY') as Proxy;
const https = parseProxy('http://me:secret@secure.example.com:3128', 'HTTPS_PROXY') as Proxy;

const routeOf = (url: string, noProxy = '') => {
  const { proxy, ...rest } = createRoutes({ http, https, noProxy })(new URL(url));
  return proxy === undefined ? ('why' in rest ? rest.why : '') : proxy.name;
};
const plain = 'http://plain.example.com:3128 (HTTP_PROXY)';
const secure = 'http://secure.example.com:3128 (HTTPS_PROXY)';
const never = 'such an address never goes through a proxy';

const rows: readonly [what: string, url: string, noProxy: string, expected: string][] = [
  ['https', 'https://ghcr.io/v2/', '', secure],
  ['plain http', 'http://registry.example.com:5000/v2/', '', plain],
  ['a private address, unless it is listed', 'https://10.0.0.5:5000/', '', secure],
  ['a name of the cluster, unless it is listed', 'https://registry.tools.svc:5000/', '', secure],
  ['everything', 'https://ghcr.io/', 'a.example.com, *', 'NO_PROXY has *'],
  ['everything on a port', 'https://ghcr.io:5000/', '*:5000', 'NO_PROXY has *:5000'],
  ['everything on another port', 'https://ghcr.io/', '*:5000', secure],
  ['a host', 'https://ghcr.io/', 'quay.io,ghcr.io', 'NO_PROXY has ghcr.io'],
  ['a host in other case, with a dot at its end', 'https://GHCR.io./', 'Ghcr.IO.', 'NO_PROXY has Ghcr.IO.'],
  ['what is below a host', 'https://a.b.example.com/', 'example.com', 'NO_PROXY has example.com'],
  ['what only ends like it', 'https://notexample.com/', 'example.com', secure],
  ['what is below a suffix', 'https://registry.tools.svc/', '.svc', 'NO_PROXY has .svc'],
  ['the suffix itself', 'https://example.com/', '.example.com', 'NO_PROXY has .example.com'],
  ['what is below a wildcard', 'https://a.example.com/', '*.example.com', 'NO_PROXY has *.example.com'],
  ['the wildcard itself', 'https://example.com/', '*.example.com', secure],
  ['a port that is meant', 'https://r.example.com:5000/', 'r.example.com:5000', 'NO_PROXY has r.example.com:5000'],
  ['the port of https', 'https://r.example.com/', 'r.example.com:443', 'NO_PROXY has r.example.com:443'],
  ['the port of http', 'http://r.example.com/', 'r.example.com:80', 'NO_PROXY has r.example.com:80'],
  ['another port', 'https://r.example.com/', 'r.example.com:5000', secure],
  ['an address', 'https://10.1.2.3/', '10.1.2.3', 'NO_PROXY has 10.1.2.3'],
  ['no part of an address', 'https://10.1.2.3/', '2.3', secure],
  ['a network', 'https://10.1.2.3:5000/', '192.168.0.0/16 10.0.0.0/8', 'NO_PROXY has 10.0.0.0/8'],
  ['an address outside of a network', 'https://11.1.2.3/', '10.0.0.0/8', secure],
  ['a name, which is not looked up for a network', 'https://registry.example.com/', '0.0.0.0/0', secure],
  ['an address of IPv6', 'https://[2001:db8::1]/', '2001:db8::1', 'NO_PROXY has 2001:db8::1'],
  ['an address of IPv6 with a port', 'https://[2001:db8::1]:5000/', '[2001:db8::1]:5000', 'NO_PROXY has [2001:db8::1]:5000'],
  ['a network of IPv6', 'https://[2001:db8::1]/', '2001:db8::/32', 'NO_PROXY has 2001:db8::/32'],
  ['an entry that is no network', 'https://10.1.2.3/', '10.0.0.0/99,/8,:80,.,*.', secure],
  ['this machine', 'https://localhost:5000/', '', never],
  ['a name of this machine', 'http://a.localhost/', '', never],
  ['the loopback address', 'https://127.8.9.1/', '', never],
  ['the loopback address of IPv6', 'https://[::1]:5000/', '', never],
  ['a metadata server', 'http://169.254.169.254/latest', '', never],
  ['a metadata server of IPv6', 'http://[fd00:ec2::254]/latest', '', never],
  ['a metadata server by name', 'http://metadata.google.internal/', '', never],
];

describe('the route by the environment', () => {
  for (const [what, url, noProxy, expected] of rows)
    test(`is ${expected.startsWith('http') ? 'a proxy' : 'direct'} for ${what}: ${url} with NO_PROXY "${noProxy}"`, () =>
      assert.equal(routeOf(url, noProxy), expected));

  test('does not use HTTP_PROXY for https', () =>
    assert.deepEqual(createRoutes({ http, noProxy: '' })(new URL('https://ghcr.io')), { why: 'HTTPS_PROXY is not set' }));
});

describe('the proxy setting of a registry', () => {
  const byEnvironment = createRoutes({ https, noProxy: 'ghcr.io' });
  const own = parseProxy('own.example.com:8080', 'registries[].proxy') as Proxy;
  const to = new URL('https://ghcr.io');

  test('takes precedence over the environment', () => {
    assert.equal(createRegistryRoute(own, byEnvironment)(to).proxy, own);
    assert.deepEqual(createRegistryRoute('none', byEnvironment)(new URL('https://quay.io')), { why: 'registries[].proxy is none' });
    assert.deepEqual(createRegistryRoute(undefined, byEnvironment)(to), { why: 'NO_PROXY has ghcr.io' });
  });

  test('never sends requests to metadata servers or this machine through a proxy', () => {
    const route = createRegistryRoute(own, byEnvironment);
    for (const url of ['https://169.254.169.254', 'https://localhost:5000']) assert.deepEqual(route(new URL(url)), { why: never });
  });
});

test('the message about a proxy names it without its credentials', () => {
  assert.equal(describeVia({ proxy: https }), ' through the proxy http://secure.example.com:3128 (HTTPS_PROXY)');
  assert.equal(describeVia({ why: 'x' }), '');
});

describe('the URL of a proxy', () => {
  for (const [text, url] of [
    ['proxy.example.com:3128', 'http://proxy.example.com:3128/'],
    ['HTTPS://proxy.example.com', 'https://proxy.example.com/'],
    ['me:secret@10.0.0.1:8080', 'http://me:secret@10.0.0.1:8080/'],
  ] as const)
    test(`${text} is accepted`, () => assert.equal((parseProxy(text, 'X') as Proxy).url, url));

  for (const text of ['socks5://me:secret@proxy:1080', 'http://', 'a b secret', 'http://me:se%cret@proxy:3128', 'http://proxy:secret'])
    test(`${text} is refused, and not quoted`, () => {
      const parsed = parseProxy(text, 'X');
      assert.ok('problem' in parsed);
      assert.doesNotMatch(parsed.problem, /secret|se%cret/);
    });
});
