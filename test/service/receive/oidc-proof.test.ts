import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SignJWT, type JWTPayload } from 'jose';
import { googleIssuers } from '../../../src/service/receive/issuers.ts';
import { createKeySet } from '../../../src/service/receive/key-set.ts';
import { createOidcProof } from '../../../src/service/receive/oidc-proof.ts';
import { ProofUnavailable } from '../../../src/service/receive/authenticate.ts';
import { audience, claims, email, makeIssuer, now } from './keys.ts';

let issuer: Awaited<ReturnType<typeof makeIssuer>>;
before(async () => (issuer = await makeIssuer()));

const seconds = now.getTime() / 1_000;
const url = 'https://www.googleapis.com/oauth2/v3/certs';

function proof(options: Partial<Parameters<typeof createOidcProof>[0]> = {}) {
  const keySet = createKeySet({
    url,
    fetchText: () => Promise.resolve(issuer.jwks),
    elapsed: () => now.getTime(),
    onError: () => undefined,
  });
  const verify = createOidcProof({ issuers: googleIssuers, audience, email, findKey: keySet.find, now: () => now, ...options });
  return (token: string, scheme = 'Bearer') => verify({ headers: { authorization: `${scheme} ${token}` }, body: Buffer.alloc(0) });
}

test("Google's token is accepted, in both spellings of its issuer", async () => {
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
  ['another e-mail', { ...claims, email: 'push@other.iam.gserviceaccount.com' }, /not receivers\[\].oidc.email/],
  ['no e-mail', anonymous, /not receivers\[\].oidc.email/],
  ['an e-mail that is not verified', { ...claims, email_verified: false }, /not verified/],
  ['an e-mail that is verified in words', { ...claims, email_verified: 'true' }, /not verified/],
  ['expired', { ...claims, exp: seconds - 11 }, /ERR_JWT_EXPIRED/],
  ['never expiring', immortal, /token's exp/],
  ['without a time of issue', ageless, /token's iat/],
  ['issued in the future', { ...claims, iat: seconds + 60 }, /not valid yet/],
  ['not valid before tomorrow', { ...claims, nbf: seconds + 86_400 }, /token's nbf/],
];

for (const [name, payload, why] of wrong) {
  test(`a token is refused if its defect is: ${name}`, async () => {
    const result = await proof()(await issuer.token(payload));
    assert.equal(result.kind, 'refused');
    assert.match('why' in result ? result.why : '', why);
  });
}

test('a token is accepted with a small clock skew', async () => {
  assert.equal((await proof()(await issuer.token({ ...claims, exp: seconds - 5, iat: seconds + 5 }))).kind, 'authentic');
});

test('a token is refused if it is malformed, or signed by another key, not at all, or with a well-known secret', async () => {
  const verify = proof();
  const [header = '', payload = '', signature = ''] = (await issuer.token()).split('.');
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const known = await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'key-1' }).sign(Buffer.from(JSON.stringify(issuer.jwk)));
  const otherIssuer = await makeIssuer('key-1');
  const tokens = [
    '',
    'x',
    'a.b.c',
    `${header}.${payload}.`,
    `${header}.${encode({ ...claims, aud: 'x' })}.${signature}`,
    `${encode({ alg: 'none' })}.${payload}.`,
    known,
    await otherIssuer.token(),
    await (await makeIssuer('key-2')).token(),
  ];
  for (const token of tokens) assert.equal((await verify(token)).kind, 'refused', token);
  assert.equal((await verify(await issuer.token(), 'Basic')).kind, 'refused');
});

test('a token of another issuer needs no e-mail unless one is configured', async () => {
  const verify = proof({ issuers: ['https://login.example.com'], email: undefined });
  assert.equal((await verify(await issuer.token({ ...anonymous, iss: 'https://login.example.com' }))).kind, 'authentic');
  assert.equal((await verify(await issuer.token(anonymous))).kind, 'refused');
});

test('the reason for a refusal never contains a part of the token', async () => {
  const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'key-1', crit: ['hunter2'], hunter2: 1 })).toString('base64url');
  const [, payload, signature] = (await issuer.token()).split('.');
  for (const token of [await issuer.token({ ...claims, aud: 'hunter2' }, { typ: 'hunter2' }), `${header}.${payload}.${signature}`]) {
    const result = await proof()(token);
    assert.equal(result.kind, 'refused');
    assert.ok(!JSON.stringify(result).includes('hunter2'));
  }
});

test('without the keys of the issuer a token is neither accepted nor refused', async () => {
  const keySet = createKeySet({
    url,
    fetchText: () => Promise.reject(new Error('down')),
    elapsed: () => now.getTime(),
    onError: () => undefined,
  });
  await assert.rejects(async () => proof({ findKey: keySet.find })(await issuer.token()), ProofUnavailable);
});

const github = 'https://token.actions.githubusercontent.com';
const { email_verified: _verified, ...bare } = anonymous;
/** What GitHub Actions writes into the token of a job, and some claims of other types. */
const job = {
  ...bare,
  iss: github,
  sub: 'repo:acme/shop:ref:refs/heads/main',
  repository: 'acme/shop',
  repository_owner: 'acme',
  repository_owner_id: '65',
  run_number: 10,
  ref_protected: true,
  groups: ['builders', 'writers', 7],
  nested: { repository_owner: 'acme' },
};
const demands = (demanded: Record<string, readonly string[]>) => proof({ issuers: [github], email: undefined, claims: demanded });

for (const [name, demanded, claim] of [
  ['a text', { repository_owner: ['acme'] }, undefined],
  ['one of several texts', { repository_owner: ['other', 'acme'] }, undefined],
  ['a number, and one that is written as a text', { run_number: ['10'], repository_owner_id: ['65'] }, undefined],
  ['true', { ref_protected: ['true'] }, undefined],
  ['a list that contains it', { groups: ['admins', 'writers'] }, undefined],
  ['another customer', { repository_owner: ['acm'] }, 'repository_owner'],
  ['a longer name', { repository_owner: ['acme2'] }, 'repository_owner'],
  ['other letters', { repository_owner: ['Acme'] }, 'repository_owner'],
  ['a pattern, which is none', { repository: ['acme/*'] }, 'repository'],
  ['all of them, not any', { repository_owner: ['acme'], repository: ['acme/api'] }, 'repository'],
  ['a claim that the token does not have', { environment: ['production'] }, 'environment'],
  ['a list that does not contain it', { groups: ['admins', 'builders,writers'] }, 'groups'],
  ['an entry of a list that is no text', { groups: ['7'] }, 'groups'],
  ['an object', { nested: ['acme', '[object Object]'] }, 'nested'],
  ['what every object has', { constructor: ['Object'], toString: ['x'] }, 'constructor'],
] as const) {
  test(`required claims are checked in the case "${name}"`, async () => {
    const result = await demands(demanded)(await issuer.token(job));
    if (claim === undefined) assert.deepEqual(result, { kind: 'authentic' });
    else assert.deepEqual([result.kind, 'claim' in result && result.claim], ['refused', claim]);
  });
}

test('a required claim with a number that JSON cannot represent exactly does not match', async () => {
  const verify = demands({ run_number: ['9007199254740992'] });
  assert.equal((await verify(await issuer.token({ ...job, run_number: 9_007_199_254_740_992 }))).kind, 'refused');
});

test('a refusal names the claim that does not match, without its value', async () => {
  const result = await demands({ repository_owner: ['hunter1'] })(await issuer.token({ ...job, repository_owner: 'hunter2' }));
  assert.ok(result.kind === 'refused');
  assert.match(result.why, /repository_owner/);
  assert.doesNotMatch(JSON.stringify(result), /hunter/);
});

test('a claim is named only for a token that is signed by the issuer and meant for this audience', async () => {
  const verify = demands({ repository_owner: ['acme'] });
  const otherIssuer = await makeIssuer('key-1');
  const unsigned = await verify(await otherIssuer.token({ ...job, repository_owner: 'mallory' }));
  assert.ok(unsigned.kind === 'refused');
  assert.equal(unsigned.claim, undefined);
  const foreign = await verify(await issuer.token({ ...job, aud: 'https://elsewhere.example.com' }));
  assert.ok(foreign.kind === 'refused');
  assert.equal(foreign.claim, 'aud');
});
