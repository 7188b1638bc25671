import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { verifyHmac, type HmacScheme } from '../../../src/receive/providers/hmac.ts';

const github: HmacScheme = { headers: ['x-hub-signature-256'], algorithm: 'sha256', prefix: 'sha256=' };
const body = Buffer.from('Hello, World!');
const secret = "It's a Secret to Everybody";
const right = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

const verify = (value: string | string[] | undefined, secrets = [secret], scheme = github) =>
  verifyHmac({ headers: { [scheme.headers[0] ?? '']: value }, body }, secrets, scheme);

test("GitHub's own test vector", () => assert.ok(verify(`sha256=${right}`)));
test('hex in capitals', () => assert.ok(verify(`sha256=${right.toUpperCase()}`)));
test('any of several secrets', () => {
  assert.ok(verify(`sha256=${right}`, [secret, 'next']));
  assert.ok(verify(`sha256=${right}`, ['old', secret]));
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
  test(`${name}: not let in`, () => assert.ok(!verify(value)));
}

test('another byte in the body: not let in', () => {
  assert.ok(
    !verifyHmac({ headers: { [github.headers[0] ?? '']: `sha256=${right}` }, body: Buffer.from('Hello, World') }, [secret], github),
  );
});

test('sha1, without a prefix', () => {
  const scheme: HmacScheme = { headers: ['x-signature'], algorithm: 'sha1' };
  const signature = createHmac('sha1', secret).update(body).digest('hex');
  assert.ok(verify(signature, [secret], scheme));
  assert.ok(!verify(right, [secret], scheme));
});
