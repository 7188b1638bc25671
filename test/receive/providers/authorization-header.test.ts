import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyAuthorizationHeader, verifyBasicPassword } from '../../../src/receive/providers/authorization-header.ts';

const secret = 's3cret:with a colon';
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;
const delivery = (authorization?: string) => ({ headers: { authorization }, body: Buffer.alloc(0) });

test('the whole value, or what follows Bearer', () => {
  for (const value of [secret, `Bearer ${secret}`, `bearer  ${secret}`]) {
    assert.ok(verifyAuthorizationHeader(delivery(value), ['old', secret]), value);
  }
  for (const value of [undefined, '', 'Bearer', `Basic ${secret}`, `${secret} `, `Bearer ${secret}x`]) {
    assert.ok(!verifyAuthorizationHeader(delivery(value), ['old', secret]), value);
  }
});

test('the password, whoever the user is; or both', () => {
  for (const value of [basic(`ci:${secret}`), basic(`:${secret}`), basic(secret), basic(`ci:${secret}`).replace('Basic', 'basic ')]) {
    assert.ok(verifyBasicPassword(delivery(value), ['old', secret]), value);
  }
  for (const value of [undefined, '', 'Basic', 'Basic !', basic(`ci:${secret}x`), basic('ci'), `Bearer ${secret}`, basic('with a colon')]) {
    assert.ok(!verifyBasicPassword(delivery(value), ['old', secret]), value);
  }
});
