import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { guardedLookup } from '../../../src/service/registry/address-guard.ts';
import { isForbiddenAddress } from '../../../src/service/proxy/special-addresses.ts';

const forbidden = [
  'http://169.254.169.254/',
  'http://169.254.170.2/',
  'http://2852039166/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[64:ff9b::100.100.100.200]/',
  'http://[64:ff9b:1::192.0.0.192]/',
  'http://[2002:a83f:8110::1]/',
  'http://[::ffff:0:168.63.129.16]/',
  'http://[::169.254.169.254]/',
  'http://[fe80::1]/',
  'http://[febf::1]/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://168.63.129.16/',
  'http://metadata.google.internal/',
  'http://METADATA.google.internal./',
];
const allowed = [
  'http://127.0.0.1:5000/',
  'http://10.0.0.1/',
  'http://[::1]/',
  'http://[64:ff9b::100.100.100.201]/',
  'http://[64:ff9b::8.8.8.8]/',
  'http://[2002:808:808::1]/',
  'http://[fd00::1]/',
  'http://registry-1.docker.io/',
  'http://169.254.example.com/',
];

for (const url of forbidden) {
  test(`${url} is forbidden`, () => assert.equal(isForbiddenAddress(new URL(url).hostname), true));
}
for (const url of allowed) {
  test(`${url} is allowed`, () => assert.equal(isForbiddenAddress(new URL(url).hostname), false));
}

test('a zone index does not hide a link-local address', () => assert.equal(isForbiddenAddress('fe80::1%eth0'), true));

function resolve(answer: Parameters<Parameters<LookupFunction>[2]>): Promise<unknown[]> {
  const lookup = guardedLookup((_hostname, _options, callback) => callback(...answer));
  return new Promise((done) => lookup('registry.example.com', {}, (...result) => done(result)));
}

test('harmless DNS answers pass the address guard unchanged', async () => {
  assert.deepEqual(await resolve([null, '10.0.0.1', 4]), [null, '10.0.0.1', 4]);
  assert.deepEqual(await resolve([null, [{ address: '10.0.0.1', family: 4 }]]), [null, [{ address: '10.0.0.1', family: 4 }], undefined]);
});

test('a DNS answer with a metadata address is refused', async () => {
  const [error] = await resolve([null, '169.254.169.254', 4]);
  assert.ok(error instanceof PermanentError);
  assert.equal(error.reason, 'RegistryRefused');
  assert.match(error.message, /registry\.example\.com, which is 169\.254\.169\.254, is a link-local or metadata address/);
});

test('a DNS answer with one metadata address among several is refused', async () => {
  const [error] = await resolve([
    null,
    [
      { address: '10.0.0.1', family: 4 },
      { address: 'fe80::1', family: 6 },
    ],
  ]);
  assert.ok(error instanceof PermanentError);
});

test('a failed DNS lookup passes the address guard as a failed lookup', async () => {
  const failure = new Error('ENOTFOUND');
  assert.equal((await resolve([failure, '', 0]))[0], failure);
});
