import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import {
  authentic,
  authenticate,
  type Authentication,
  ProofUnavailable,
  refused,
  type VerifyProof,
} from '../../../src/service/receive/authenticate.ts';
import { ghcr } from '../../../src/service/receive/providers/ghcr.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';

const yes: VerifyProof = () => Promise.resolve(authentic);
const no: VerifyProof = () => Promise.resolve(refused('the signature is wrong'));
const away: VerifyProof = () => Promise.reject(new ProofUnavailable('the keys cannot be had'));

const rows: [name: string, receiver: Partial<Authentication>, given: { token?: string; header?: string }, kind: string][] = [
  ['nothing is asked of anybody', { unauthenticated: true }, {}, 'authentic'],
  ['the header has a secret', { secrets: () => ['a', 'b'] }, { header: 'b' }, 'authentic'],
  ['the header has none', { secrets: () => ['a', 'b'] }, { header: 'c' }, 'refused'],
  ['the URL has a secret', { secrets: () => ['a', 'b'] }, { token: 'b' }, 'authentic'],
  ['the URL has none, and the header does not help', { secrets: () => ['a'] }, { token: 'b', header: 'a' }, 'refused'],
  ['the URL has none, and a proof does not help', { secrets: () => ['a'], proofs: [yes] }, { token: 'b' }, 'refused'],
  ['a token for a receiver without secrets', { proofs: [yes] }, { token: '' }, 'refused'],
  ['no secrets, nothing given', {}, { header: '' }, 'refused'],
  ['a proof', { proofs: [yes] }, {}, 'authentic'],
  ['a secret and a proof that fails', { secrets: () => ['a'], proofs: [no] }, { header: 'a' }, 'authentic'],
  ['the second of two proofs', { proofs: [no, yes] }, {}, 'authentic'],
  ['a proof that fails', { proofs: [no] }, {}, 'refused'],
  ['a proof that cannot be judged', { proofs: [away] }, {}, 'unavailable'],
  ['one that cannot be judged, and one that fails', { proofs: [away, no] }, {}, 'unavailable'],
  ['one that cannot be judged, and one that is good', { proofs: [away, yes] }, {}, 'authentic'],
  ['a proof that cannot be judged, and a good secret', { secrets: () => ['a'], proofs: [away] }, { header: 'a' }, 'authentic'],
];

for (const [name, receiver, { token, header }, kind] of rows) {
  test(`a delivery is ${kind} in the case "${name}"`, async () => {
    const delivery = { headers: { authorization: header }, body: Buffer.alloc(0) };
    const result = await authenticate(delivery, token, { provider: harbor, unauthenticated: false, secrets: () => [], ...receiver });
    assert.equal(result.kind, kind);
  });
}

test('a bug in a verifier is not taken for a refusal', async () => {
  const proofs: VerifyProof[] = [() => Promise.reject(new TypeError('x is not a function'))];
  const receiver = { provider: harbor, unauthenticated: false, secrets: () => [], proofs };
  await assert.rejects(authenticate({ headers: {}, body: Buffer.alloc(0) }, undefined, receiver), TypeError);
});

test('a large body is hashed with one secret at a time, so that the event loop continues, and every secret is tried', async () => {
  const body = Buffer.alloc(1_048_576, ' ');
  const secrets = Array.from({ length: 16 }, (_, index) => `secret-${index}`);
  const receiver = { provider: ghcr, unauthenticated: false, secrets: () => secrets };
  const authenticateWith = (secret: string) => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    return authenticate({ headers: { 'x-hub-signature-256': signature }, body }, undefined, receiver);
  };
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  for (const [secret, kind] of [
    ['secret-0', 'authentic'],
    ['secret-15', 'authentic'],
    ['another', 'refused'],
  ] as const) {
    turns = 0;
    assert.equal((await authenticateWith(secret)).kind, kind);
    assert.ok(turns >= 15, `${turns} turns`);
  }
  clearImmediate(timer);
});
