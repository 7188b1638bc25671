import { WaitError } from '../model/errors.ts';
import type { ImageSource } from '../model/image-source.ts';
import { BoundedMap } from '../async/bounded-map.ts';
import { type Challenge, challengedScope, parseChallenges, pullScope, pushScope, type TokenScope } from './challenge.ts';
import { basicAuthorization, type Credential } from './credential.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

/**
 * Sends a request with one credential, or anonymously, by the authentication scheme that the registry names in its challenge. The answer may be a refusal of the
 * registry (`isRefusal`); undefined if its token server refused the credential.
 */
export type Attempt = (source: ImageSource, request: HttpRequest, credential: Credential | undefined) => Promise<HttpAnswer | undefined>;

/** A request that was sent: its Authorization header and the answer. Without an answer, the token server refused the credential. */
interface Sent {
  readonly authorization: string | undefined;
  readonly answer?: HttpAnswer;
}

const maxChallenges = 1_000;
const bearer = 'Bearer ';

/**
 * ```
 *  request by the known challenge ──▶ if refused: again, by the new challenge or with a new token
 *  (usually the only request)
 * ```
 * Remembers the challenge of each registry, and the token scope of each kind of request, so that a cached token means one request.
 */
export function createAttempts(http: Http, tokens: Tokens): Attempt {
  const challenges = new BoundedMap<string, Challenge | undefined>(maxChallenges);
  const scopes = new BoundedMap<string, TokenScope>(maxChallenges);

  const remember = (source: ImageSource, request: HttpRequest, answer: HttpAnswer) => {
    const known = parseChallenges(answer.headers['www-authenticate']);
    const challenge = known.find(({ scheme }) => scheme === 'bearer') ?? known.find(({ scheme }) => scheme === 'basic');
    if (!challenge) return;
    challenges.set(request.registry.name, challenge);
    const scope = challengedScope(challenge, source.path, request.kind === 'push');
    if (scope) scopes.set(scopeKey(request), scope);
  };

  /** Requests `/v2/`, as docker does: some registries answer 404 for private repositories, and send a challenge only here. */
  const ping = async (source: ImageSource, request: HttpRequest) => {
    const { registry, maxBytes, signal } = request;
    const what = `asking ${registry.name} how to log in`;
    const url = new URL('/v2/', registry.origin);
    const answer = await http({ registry, kind: 'token', what, method: 'GET', url, headers: {}, maxBytes, maxRedirects: 0, signal });
    if (answer.status < 500 && answer.status !== 429) challenges.set(registry.name, undefined);
    remember(source, request, answer);
  };

  const authorize = async (source: ImageSource, request: HttpRequest, credential: Credential | undefined, refused: string | undefined) => {
    const { registry, signal } = request;
    if (credential?.registryToken !== undefined) return { authorization: bearer + credential.registryToken };
    const challenge = challenges.get(registry.name);
    if (challenge?.scheme === 'basic') return { authorization: credential && basicAuthorization(credential) };
    const { realm, service } = challenge?.parameters ?? {};
    if (realm === undefined) return { authorization: undefined };
    try {
      const own = (scopes.get(scopeKey(request)) ?? (request.kind === 'push' ? pushScope : pullScope))(source.path);
      const scope = request.alsoReads === undefined ? own : `${own} ${pullScope(request.alsoReads)}`;
      const token = await tokens.get({ registry, repository: source, realm, service, scope, credential }, refused, signal);
      return token === undefined ? undefined : { authorization: bearer + token };
    } catch (error) {
      // The token server may have moved: the next attempt gets a new challenge from the registry.
      if (!signal?.aborted && !(error instanceof WaitError)) challenges.delete(registry.name);
      throw error;
    }
  };

  const send = async (source: ImageSource, request: HttpRequest, credential: Credential | undefined, last?: Sent): Promise<Sent> => {
    const refused = last?.authorization?.startsWith(bearer) ? last.authorization.slice(bearer.length) : undefined;
    const authorized = await authorize(source, request, credential, refused);
    if (!authorized) return { authorization: last?.authorization };
    const { authorization } = authorized;
    if (last && last.authorization === authorization) return last;
    const headers = authorization === undefined ? request.headers : { ...request.headers, authorization };
    const answer = await http({ ...request, headers });
    if (isRefusal(request, answer)) remember(source, request, answer);
    return { authorization, answer };
  };

  return async (source, request, credential) => {
    if (credential && credential.registryToken === undefined && !challenges.has(request.registry.name)) await ping(source, request);
    const first = await send(source, request, credential);
    if (!first.answer || !isRefusal(request, first.answer)) return first.answer;
    return (await send(source, request, credential, first)).answer;
  };
}

function scopeKey({ registry, kind }: HttpRequest): string {
  return `${registry.name} ${kind}`;
}

/** Whether an answer is the registry's own 401 or 403. Only the registry can require authentication: after a redirect, these statuses are ordinary answers. */
export function isRefusal({ registry }: HttpRequest, { status, url }: HttpAnswer): boolean {
  return (status === 401 || status === 403) && url.origin === registry.origin;
}
