import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticate, type Authentication } from '../../src/receive/authenticate.ts';
import { authentic, ProofUnavailable, refused, type VerifyProof } from '../../src/receive/proof.ts';
import { harbor } from '../../src/receive/providers/harbor.ts';

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
  test(`${name}: ${kind}`, async () => {
    const delivery = { headers: { authorization: header }, body: Buffer.alloc(0) };
    const verdict = await authenticate(delivery, token, { provider: harbor, unauthenticated: false, secrets: () => [], ...receiver });
    assert.equal(verdict.kind, kind);
  });
}

test('a bug in a proof is not taken for a refusal', async () => {
  const proofs: VerifyProof[] = [() => Promise.reject(new TypeError('x is not a function'))];
  const receiver = { provider: harbor, unauthenticated: false, secrets: () => [], proofs };
  await assert.rejects(authenticate({ headers: {}, body: Buffer.alloc(0) }, undefined, receiver), TypeError);
});
