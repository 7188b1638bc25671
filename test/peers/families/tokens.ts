import { z } from 'zod';
import { isForbiddenAddress } from '../../../src/service/proxy/special-addresses.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import { type FakeAnswer, type FakeRequest, startFakeRegistry } from '../../harness/fake-registry.ts';
import { offering } from '../../service/registry/start-world.ts';
import { family } from '../family.ts';

const input = z.strictObject({
  /** The registry's name; an address of this machine unless given. */
  host: z.string().optional(),
  credential: z.strictObject({ username: z.string(), password: z.string(), identityToken: z.string().optional() }),
  /** How the token server calls the token. */
  tokenKey: z.string().default('token'),
  expiresIn: z.int().optional(),
  challengeScope: z.string().optional(),
  /** Tokens are only good with this in their scope, and without that. */
  wantsScope: z.string().optional(),
  refusesScope: z.string().optional(),
  /** The refresh tokens that the token server accepts, one after another, each of which it answers with the next. */
  refreshTokens: z.array(z.string()).default([]),
  /** What the token server answers to POST. */
  postStatus: z.int().optional(),
  times: z.int().default(1),
  /** Whether the registry forgets its tokens after each read. */
  revoked: z.boolean().default(false),
});

/** Whether a token server, or whatever else a registry names, must not be asked because of its address. */
export const addresses = family('addresses', z.strictObject({ url: z.string() }), ({ url }) => isForbiddenAddress(new URL(url).hostname));

type Input = z.output<typeof input>;

/** What came of reading the list of tags some times, and how the token server was asked meanwhile. */
export const tokens = family('tokens', input, async (one) => {
  const fake = await startFakeRegistry();
  const host = one.host === undefined ? fake.host : fake.host.replace('127.0.0.1', one.host);
  const server = new TokenServer(one, `http://${host}/token`);
  fake.answerNext((request) => server.answer(request), { times: Infinity });
  const { username, password, identityToken } = one.credential;
  const client = createRegistryClient({
    registries: [{ host, insecure: true }],
    allowedRegistries: [],
    credentials: offering({ username, password, ...(identityToken !== undefined && { identityToken }) }),
    lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const reads: string[] = [];
  try {
    for (let read = 0; read < one.times; read += 1) {
      const list = client.listTags({ registry: host, path: 'team/app' });
      reads.push(
        await list.then(
          () => 'read',
          () => 'error',
        ),
      );
      if (one.revoked) server.revoke();
    }
  } finally {
    await fake.stop();
    await client.close();
  }
  return { reads, asked: fake.requests.filter(({ path }) => path.startsWith('/token')).map(({ method }) => method) };
});

/** A registry with one list of tags, and its token server. */
class TokenServer {
  readonly #rules: Input;
  readonly #realm: string;
  readonly #refreshTokens: string[];
  #good = new Set<string>();
  #issued = 0;

  constructor(rules: Input, realm: string) {
    this.#rules = rules;
    this.#realm = realm;
    this.#refreshTokens = [...rules.refreshTokens];
  }

  revoke(): void {
    this.#good = new Set();
  }

  answer(request: FakeRequest): FakeAnswer {
    if (request.path.startsWith('/token')) return this.#giveToken(request);
    if (this.#good.has(request.authorization ?? '')) return { body: '{"tags":["1.0.0"]}' };
    const { challengeScope: scope } = this.#rules;
    const challenge = `Bearer realm="${this.#realm}",service="registry"${scope === undefined ? '' : `,scope="${scope}"`}`;
    return { status: 401, headers: { 'www-authenticate': challenge } };
  }

  #giveToken({ method, path, body, authorization }: FakeRequest): FakeAnswer {
    const { credential, tokenKey, expiresIn, wantsScope = '', refusesScope, postStatus } = this.#rules;
    if (method === 'POST' && postStatus !== undefined) return { status: postStatus };
    const fields = method === 'POST' ? new URLSearchParams(body) : new URL(path, this.#realm).searchParams;
    const isUser = authorization === `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
    const isRefresh = method === 'POST' && fields.get('refresh_token') === this.#refreshTokens[0];
    if (!isRefresh && !isUser) return { status: 401 };
    if (isRefresh && this.#refreshTokens.length > 1) this.#refreshTokens.shift();
    const token = `token-${++this.#issued}`;
    const scope = fields.getAll('scope').join(' ');
    if (scope.includes(wantsScope) && !(refusesScope !== undefined && scope.includes(refusesScope))) this.#good.add(`Bearer ${token}`);
    const [next] = this.#refreshTokens;
    return { body: JSON.stringify({ [tokenKey]: token, expires_in: expiresIn, ...(isRefresh && { refresh_token: next }) }) };
  }
}
