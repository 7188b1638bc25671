/** Sign-in at a real identity provider: whom the API takes the user for, and every answer of the provider that must not be believed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import type { OperationsAuth } from '../../src/service/api/authenticate.ts';
import { createOidcClient, identify, type OidcSettings } from '../../src/dashboard/oidc.ts';
import { createSeal } from '../../src/dashboard/session.ts';
import { client, signInAt, startProvider, type Claims } from './identity-provider.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const publicUrl = 'http://localhost:9090';
const verified: Claims = { email: 'ann@example.com', email_verified: true, groups: ['shop', 'with, comma', 'system:masters'] };
const settings: Omit<OidcSettings, 'issuer'> = {
  clientId: client.id,
  clientSecret: () => client.secret,
  scopes: ['openid', 'email', 'groups'],
  usernameClaim: 'email',
  usernamePrefix: '',
  groupsClaim: 'groups',
  groupsPrefix: 'oidc:',
};
const proxy = {
  userHeader: 'X-Forwarded-User',
  groupsHeader: 'X-Forwarded-Groups',
  secretHeader: 'X-Proxy-Secret',
  secret: () => 'what the dashboard knows',
  trustedPeers: ['127.0.0.1'],
};

describe('the sign-in with an identity provider', () => {
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let claims: Claims;
  before(async () => {
    provider = await startProvider(publicUrl, () => claims);
  });
  beforeEach(() => {
    claims = verified;
  });
  after(() => provider.stop());

  /** A dashboard whose API server knows the tokens of the provider, or does not; everybody may look, and nobody else is asked. */
  function open(t: TestContext, { knowsTokens, issuer = provider.issuer }: { knowsTokens: boolean; issuer?: string }) {
    const callers: { user: string; groups: readonly string[] }[] = [];
    const auth: OperationsAuth = {
      kind: 'kubernetes',
      proxy,
      reviewToken: (token) => {
        const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as Partial<Claims>;
        return Promise.resolve(knowsTokens && payload.email !== undefined ? { user: payload.email, groups: [] } : undefined);
      },
      reviewAccess: ({ user, groups }) => Promise.resolve(callers.push({ user, groups }) > 0),
    };
    const identification = { ...sessions, seal: createSeal(() => 'a secret of the tests', 60_000), proxy };
    const opened = openDashboard(t, { auth, identification, more: { oidc: createOidcClient({ ...settings, issuer }), publicUrl } });
    return {
      ...opened,
      callers,
      /** Begins, signs in, and returns the address to which the provider sends the browser. */
      async signIn() {
        const { location } = await opened.get('/sign-in/oidc?back=%2Fpolicies%3Fstate%3DReady');
        const { pathname, search } = await signInAt(location ?? '', publicUrl);
        return `${pathname}${search}`;
      },
    };
  }

  it('is offered, and uses PKCE, a state and a nonce', async (t) => {
    const { get } = open(t, { knowsTokens: true });
    assert.match((await get('/sign-in')).text, /Sign in with localhost/);
    const { searchParams } = new URL((await get('/sign-in/oidc')).location ?? '');
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    for (const name of ['code_challenge', 'state', 'nonce']) assert.ok((searchParams.get(name) ?? '').length >= 40, name);
    assert.equal(searchParams.get('redirect_uri'), `${publicUrl}/sign-in/callback`);
  });

  it('lets a user act if the API server accepts the token of the provider', async (t) => {
    const { get, submit, signIn, patched, cookies } = open(t, { knowsTokens: true });
    const done = await get(await signIn());
    assert.deepEqual([done.status, done.location], [303, '/policies?state=Ready']);
    assert.match((await get('/policies')).text, /Signed in as ann@example\.com/);
    assert.equal((await submit('/policies/shop/ready/check')).status, 303);
    assert.deepEqual(
      patched.map(({ caller }) => caller),
      ['token'],
    );
    assert.ok(!cookies.has('sign-in'), 'the cookie of the sign-in is left');
  });

  it('lets a user read if only the provider knows the user, with the groups of the provider', async (t) => {
    const { get, submit, signIn, patched, callers } = open(t, { knowsTokens: false });
    assert.equal((await get(await signIn())).status, 303);
    const { text } = await get('/policies/shop/ready');
    assert.match(text, /Signed in as ann@example\.com/);
    assert.match(text, /Read-only: actions need a token/);
    // A group whose name has a comma would become two, and those of the system are not for users of the provider.
    assert.deepEqual(callers[0], { user: 'ann@example.com', groups: ['oidc:shop', 'oidc:system:masters', 'system:authenticated'] });
    assert.equal((await submit('/policies/shop/ready/check')).status, 403);
    assert.deepEqual(patched, []);
  });

  for (const [name, spoil] of [
    ['without the cookie of its beginning', (path: string, opened: ReturnType<typeof open>) => (opened.cookies.delete('sign-in'), path)],
    ['with the state of another', (path: string) => path.replace(/state=[^&]+/, 'state=another')],
    ['with another code', (path: string) => path.replace(/code=[^&]+/, 'code=another')],
    ['of another issuer', (path: string) => path.replace(/iss=[^&]+/, 'iss=http%3A%2F%2Fevil.example')],
    ['that says no', (path: string) => path.replace(/code=[^&]+/, 'error=access_denied')],
  ] as const)
    it(`refuses an answer ${name}`, async (t) => {
      const opened = open(t, { knowsTokens: true });
      const path = spoil(await opened.signIn(), opened);
      const { status, text } = await opened.get(path);
      assert.ok(status === 400 || status === 403, String(status));
      assert.match(text, /The sign-in failed/);
      assert.equal((await opened.get('/policies')).status, 303);
    });

  it('refuses an answer that is used twice', async (t) => {
    const opened = open(t, { knowsTokens: true });
    const path = await opened.signIn();
    const underWay = opened.cookies.get('sign-in') ?? '';
    assert.equal((await opened.get(path)).status, 303);
    opened.cookies.clear();
    opened.cookies.set('sign-in', underWay);
    assert.equal((await opened.get(path)).status, 403);
  });

  for (const confirmed of [false, 'false', 'true', null])
    it(`accepts no address that is confirmed as ${JSON.stringify(confirmed)}`, async (t) => {
      claims = { ...verified, email_verified: confirmed } as Claims;
      const opened = open(t, { knowsTokens: false });
      assert.equal((await opened.get(await opened.signIn())).status, 403);
      assert.ok(opened.logged.some((line) => line.includes('the e-mail address is not verified')));
    });

  for (const [name, answer] of [
    ['no identity token', { access_token: 'a secret token', refresh_token: 'a secret token', token_type: 'Bearer' }],
    ['another kind of token', { access_token: 'a secret token', id_token: 'a secret token', token_type: 'mac' }],
    ['a very long error', { error: 'invalid_grant', error_description: 'a secret token'.repeat(10_000) }],
  ] as const)
    it(`logs no token of an answer with ${name}`, async (t) => {
      const broken = await startBrokenProvider(t, answer);
      const { get, logged } = open(t, { knowsTokens: true, issuer: broken });
      const state = new URL((await get('/sign-in/oidc')).location ?? '').searchParams.get('state') ?? '';
      const back = new URLSearchParams({ code: 'x', state, iss: broken });
      assert.equal((await get(`/sign-in/callback?${back.toString()}`)).status, 403);
      const [line = ''] = logged.filter((one) => one.includes('sign-in at the identity provider failed'));
      assert.ok(line.length > 0 && line.length < 700 && !line.includes('a secret token'), line.slice(0, 1_000));
    });

  it('reports that the provider does not answer, and tries again at the next sign-in', async (t) => {
    const { get, logged } = open(t, { knowsTokens: true, issuer: 'http://localhost:9' });
    for (let tries = 0; tries < 2; tries++) {
      const { status, text } = await get('/sign-in/oidc');
      assert.equal(status, 503);
      assert.match(text, /The sign-in failed/);
    }
    assert.equal(logged.filter((line) => line.includes('sign-in at the identity provider failed')).length, 2);
  });
});

/** A provider whose token endpoint gives this answer. */
async function startBrokenProvider(t: TestContext, answer: object): Promise<string> {
  const server = createServer((request, response) => {
    const issuer = `http://${request.headers.host}`;
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
    response.statusCode = 'error' in answer && request.url === '/token' ? 400 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/token' ? answer : metadata));
  });
  t.after(() => server.close());
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

describe('a user of an identity provider', () => {
  const claimed = { usernameClaim: 'sub', usernamePrefix: 'oidc:', groupsClaim: 'roles', groupsPrefix: '' };
  it('has the name and groups of the claims', () => {
    assert.deepEqual(identify({ sub: '17', roles: ['a', 3, '', 'b'] }, claimed), { user: 'oidc:17', groups: ['a', 'b'] });
    assert.deepEqual(identify({ sub: '17', roles: 'a' }, claimed), { user: 'oidc:17', groups: ['a'] });
    assert.deepEqual(identify({ sub: '17' }, claimed), { user: 'oidc:17', groups: [] });
  });
  for (const sub of [undefined, '', 17, ['a']])
    it(`is nobody with the name ${JSON.stringify(sub)}`, () => assert.throws(() => identify({ sub }, claimed), /no claim "sub"/));
});
