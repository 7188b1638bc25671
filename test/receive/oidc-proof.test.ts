import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SignJWT, type JWTPayload } from 'jose';
import { googleIssuers } from '../../src/receive/google-issuers.ts';
import { createKeySet } from '../../src/receive/key-set.ts';
import { createOidcProof } from '../../src/receive/oidc-proof.ts';
import { ProofUnavailable } from '../../src/receive/proof.ts';
import { audience, claims, email, makeIssuer, now } from './keys.ts';

let issuer: Awaited<ReturnType<typeof makeIssuer>>;
before(async () => (issuer = await makeIssuer()));

const seconds = now.getTime() / 1_000;
const url = 'https://www.googleapis.com/oauth2/v3/certs';

function proof(options: Partial<Parameters<typeof createOidcProof>[0]> = {}) {
  const keySet = createKeySet({ url, fetchText: () => Promise.resolve(issuer.jwks), now: () => now.getTime(), onError: () => undefined });
  const verify = createOidcProof({ issuers: googleIssuers, audience, email, findKey: keySet.find, now: () => now, ...options });
  return (token: string, scheme = 'Bearer') => verify({ headers: { authorization: `${scheme} ${token}` }, body: Buffer.alloc(0) });
}

test("Google's token is a proof, in both spellings of its name", async () => {
  for (const iss of googleIssuers) assert.deepEqual(await proof()(await issuer.token({ ...claims, iss })), { kind: 'authentic' });
  assert.deepEqual(await proof()(await issuer.token(), 'bearer'), { kind: 'authentic' });
});

const { email: _email, ...anonymous } = claims;
const { exp: _exp, ...immortal } = claims;
const { iat: _iat, ...ageless } = claims;
const wrong: [name: string, payload: JWTPayload, why: RegExp][] = [
  ['another issuer', { ...claims, iss: 'https://accounts.example.com' }, /token's iss/],
  ['another audience', { ...claims, aud: `${audience}/` }, /token's aud/],
  ['an audience in other letters', { ...claims, aud: audience.toUpperCase() }, /token's aud/],
  ['another e-mail', { ...claims, email: 'push@other.iam.gserviceaccount.com' }, /another e-mail/],
  ['no e-mail', anonymous, /another e-mail/],
  ['an e-mail that is not verified', { ...claims, email_verified: false }, /not verified/],
  ['an e-mail that is verified in words', { ...claims, email_verified: 'true' }, /not verified/],
  ['expired', { ...claims, exp: seconds - 11 }, /ERR_JWT_EXPIRED/],
  ['never expiring', immortal, /token's exp/],
  ['without a time of issue', ageless, /token's iat/],
  ['issued in the future', { ...claims, iat: seconds + 60 }, /not valid yet/],
  ['not valid before tomorrow', { ...claims, nbf: seconds + 86_400 }, /token's nbf/],
];

for (const [name, payload, why] of wrong) {
  test(`refused: ${name}`, async () => {
    const verdict = await proof()(await issuer.token(payload));
    assert.equal(verdict.kind, 'refused');
    assert.match('why' in verdict ? verdict.why : '', why);
  });
}

test('clocks may differ a little', async () => {
  assert.equal((await proof()(await issuer.token({ ...claims, exp: seconds - 5, iat: seconds + 5 }))).kind, 'authentic');
});

test('refused: what is no token, is signed by another, by nobody, or by a secret that everybody knows', async () => {
  const verify = proof();
  const [header = '', payload = '', signature = ''] = (await issuer.token()).split('.');
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const known = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(Buffer.from(JSON.stringify(issuer.jwk)));
  const other = await makeIssuer('key-1');
  const tokens = [
    '',
    'x',
    'a.b.c',
    `${header}.${payload}.`,
    `${header}.${encode({ ...claims, aud: 'x' })}.${signature}`,
    `${encode({ alg: 'none' })}.${payload}.`,
    known,
    await other.token(),
    await (await makeIssuer('key-2')).token(),
  ];
  for (const token of tokens) assert.equal((await verify(token)).kind, 'refused', token);
  assert.equal((await verify(await issuer.token(), 'Basic')).kind, 'refused');
});

test('another issuer needs no e-mail unless one is configured', async () => {
  const verify = proof({ issuers: ['https://login.example.com'], email: undefined });
  assert.equal((await verify(await issuer.token({ ...anonymous, iss: 'https://login.example.com' }))).kind, 'authentic');
  assert.equal((await verify(await issuer.token(anonymous))).kind, 'refused');
});

test('why it was refused never holds a part of the token', async () => {
  const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'key-1', crit: ['hunter2'], hunter2: 1 })).toString('base64url');
  const [, payload, signature] = (await issuer.token()).split('.');
  for (const token of [await issuer.token({ ...claims, aud: 'hunter2' }, { typ: 'hunter2' }), `${header}.${payload}.${signature}`]) {
    const verdict = await proof()(token);
    assert.equal(verdict.kind, 'refused');
    assert.ok(!JSON.stringify(verdict).includes('hunter2'));
  }
});

test('without the keys nothing is said', async () => {
  const keySet = createKeySet({
    url,
    fetchText: () => Promise.reject(new Error('down')),
    now: () => now.getTime(),
    onError: () => undefined,
  });
  await assert.rejects(async () => proof({ findKey: keySet.find })(await issuer.token()), ProofUnavailable);
});
