import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  type HmacScheme,
  verifyAuthorizationHeader,
  verifyBasicPassword,
  verifyHmac,
} from '../../../../src/service/receive/providers/headers.ts';

const secret = 's3cret:with a colon';
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;
const delivery = (authorization?: string) => ({ headers: { authorization }, body: Buffer.alloc(0) });

test('the Authorization header contains the secret as its whole value, or after Bearer', () => {
  for (const value of [secret, `Bearer ${secret}`, `bearer  ${secret}`]) {
    assert.ok(verifyAuthorizationHeader(delivery(value), ['old', secret]), value);
  }
  for (const value of [undefined, '', 'Bearer', `Basic ${secret}`, `${secret} `, `Bearer ${secret}x`]) {
    assert.ok(!verifyAuthorizationHeader(delivery(value), ['old', secret]), value);
  }
});

test('the secret of basic authentication is the password of any user, or user and password', () => {
  for (const value of [basic(`ci:${secret}`), basic(`:${secret}`), basic(secret), basic(`ci:${secret}`).replace('Basic', 'basic ')]) {
    assert.ok(verifyBasicPassword(delivery(value), ['old', secret]), value);
  }
  for (const value of [undefined, '', 'Basic', 'Basic !', basic(`ci:${secret}x`), basic('ci'), `Bearer ${secret}`, basic('with a colon')]) {
    assert.ok(!verifyBasicPassword(delivery(value), ['old', secret]), value);
  }
});

const github: HmacScheme = { headers: ['x-hub-signature-256'], algorithm: 'sha256', prefix: 'sha256=' };
const body = Buffer.from('Hello, World!');
const hmacSecret = "It's a Secret to Everybody";
const right = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

const verify = (value: string | string[] | undefined, secrets = [hmacSecret], scheme = github) =>
  verifyHmac({ headers: { [scheme.headers[0] ?? '']: value }, body }, secrets, scheme);

test("the HMAC check accepts GitHub's own test vector", () => assert.ok(verify(`sha256=${right}`)));
test('the HMAC check accepts upper-case hexadecimal digits', () => assert.ok(verify(`sha256=${right.toUpperCase()}`)));
test('the HMAC check accepts a signature by any of several secrets', () => {
  assert.ok(verify(`sha256=${right}`, [hmacSecret, 'next']));
  assert.ok(verify(`sha256=${right}`, ['old', hmacSecret]));
  assert.ok(!verify(`sha256=${right}`, ['old', 'next']));
  assert.ok(!verify(`sha256=${right}`, []));
});

for (const [name, value] of [
  ['nothing', undefined],
  ['empty', ''],
  ['the prefix alone', 'sha256='],
  ['no prefix', right],
  ['another prefix', `sha1=${right}`],
  ['half of it', `sha256=${right.slice(0, 32)}`],
  ['more than it', `sha256=${right}00`],
  ['an odd number of digits', `sha256=${right}0`],
  ['the last digit lost', `sha256=${right.slice(0, -1)}`],
  ['no hex', `sha256=${right.slice(0, -1)}g`],
  ['a space before it', `sha256= ${right}`],
  ['twice', [`sha256=${right}`, `sha256=${right}`]],
] satisfies [string, string | string[] | undefined][]) {
  test(`the HMAC check refuses a signature that is: ${name}`, () => assert.ok(!verify(value)));
}

test('the HMAC check refuses a body with one byte changed', () => {
  assert.ok(
    !verifyHmac({ headers: { [github.headers[0] ?? '']: `sha256=${right}` }, body: Buffer.from('Hello, World') }, [hmacSecret], github),
  );
});

test('the HMAC check accepts sha1 signatures without a prefix', () => {
  const scheme: HmacScheme = { headers: ['x-signature'], algorithm: 'sha1' };
  const signature = createHmac('sha1', hmacSecret).update(body).digest('hex');
  assert.ok(verify(signature, [hmacSecret], scheme));
  assert.ok(!verify(right, [hmacSecret], scheme));
});
