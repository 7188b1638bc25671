import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainConnection } from '../../../src/service/queue/connection-failures.ts';

test('the lack of a password is one failure, whichever command Redis refuses first', () => {
  const [hello, other] = [
    'NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used',
    'NOAUTH Authentication required.',
  ].map((message) => explainConnection(new Error(message)));
  assert.deepEqual(hello, other);
  assert.deepEqual([other?.why, other?.setting], ['NOAUTH Authentication required.', 'password']);
});
