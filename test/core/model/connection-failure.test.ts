import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConnectionError, explainConnection } from '../../../src/core/model/connection-failure.ts';

const withCode = (code: string, fields: object = {}) => Object.assign(new Error('an error'), { code, ...fields });
const refused = withCode('ECONNREFUSED', { address: '::1', port: 443 });

const rows: readonly (readonly [name: string, error: unknown, expected: RegExp])[] = [
  ['a refused connection', refused, /^the connection was refused by \[::1\]:443 \(ECONNREFUSED\); check the host and port/],
  ['a host with several addresses', new AggregateError([refused, refused], ''), /^the connection was refused by \[::1\]:443/],
  [
    'a host with an address of IPv6, in a cluster without IPv6',
    new AggregateError(
      [withCode('ENETUNREACH', { address: '2001:db8::1', port: 443 }), withCode('ETIMEDOUT', { address: '192.0.2.1', port: 443 })],
      '',
    ),
    /^timed out at 192\.0\.2\.1:443 \(ETIMEDOUT\); check/,
  ],
  [
    'a host none of whose addresses has a route',
    new AggregateError([withCode('ENETUNREACH', { address: '192.0.2.1', port: 443 }), withCode('ENETUNREACH')], ''),
    /^no network route leads to 192\.0\.2\.1:443 \(ENETUNREACH\)/,
  ],
  ['a network without a route', withCode('EHOSTUNREACH'), /^no network route leads there \(EHOSTUNREACH\)/],
  ['DNS that does not answer', withCode('EAI_AGAIN'), /^DNS did not answer \(EAI_AGAIN\); check the DNS of the pod$/],
  ['a deadline', new DOMException('aborted', 'TimeoutError'), /^timed out; check/],
  ['an expired certificate that is not known', withCode('CERT_HAS_EXPIRED'), /^its certificate has expired \(/],
  [
    'a date that cannot be read',
    withCode('CERT_HAS_EXPIRED', { cert: { valid_to: 'soon' } }),
    /^its certificate has expired \(CERT_HAS_EXPIRED\); renew/,
  ],
  [
    'a certificate without names',
    withCode('ERR_TLS_CERT_ALTNAME_INVALID', { cert: null, host: 'a.example.com' }),
    /^its certificate is for no name, not for a\.example\.com/,
  ],
  [
    'a certificate with names of all types',
    withCode('ERR_TLS_CERT_ALTNAME_INVALID', { cert: { subjectaltname: 'DNS:b.example.com, IP Address:10.0.0.1' }, host: 'a' }),
    /^its certificate is for b\.example\.com, 10\.0\.0\.1, not for a /,
  ],
  ['a handshake that fails', withCode('ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'), /^the TLS handshake failed \(/],
  ['another error', new Error('outer', { cause: new Error('inner') }), /^outer: inner$/],
];

for (const [name, error, expected] of rows)
  test(`${name} is explained in words`, () => assert.match(describeConnectionError(error), expected));

test('only connection errors are explained', () => {
  for (const other of [undefined, 'text', new Error('no code'), withCode('toString'), withCode('EACCES')])
    assert.equal(explainConnection(other), undefined);
});

test('a client can replace the suggested remedies with its own', () => {
  const own = { UnknownAuthority: 'set caFile' };
  assert.match(describeConnectionError(withCode('SELF_SIGNED_CERT_IN_CHAIN'), own), /; set caFile$/);
  assert.match(describeConnectionError(refused, own), /; check the host/);
});
