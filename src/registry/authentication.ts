import { PermanentError, WaitError } from '../core/errors.ts';
import { formatRepository } from '../core/image-reference.ts';
import type { ImageSource } from '../core/image-source.ts';
import { abortable } from './abortable.ts';
import { describeBody } from './answer-errors.ts';
import { BoundedMap } from './bounded-map.ts';
import { type Challenge, parseChallenges } from './challenge.ts';
import { basicAuthorization, type Credential, type CredentialSource, sameCredential } from './credential.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Tokens } from './token.ts';

export interface AuthenticationOptions {
  http: Http;
  tokens: Tokens;
  credentials: CredentialSource;
}

/** Sends a request about a repository with whatever the registry wants to see; the answer is never the registry's own 401 or 403. */
export type AuthenticatedHttp = (source: ImageSource, request: HttpRequest) => Promise<HttpAnswer>;

/** One try: what was sent, and what came of it. Without an answer the token server had refused already. */
interface Attempt {
  readonly authorization: string | undefined;
  readonly answer?: HttpAnswer;
}

const maxChallenges = 1_000;
const bearer = 'Bearer ';

/**
 * ```
 *  what is known of the registry ──▶ its challenge answered, ──▶ the credential read again, ──▶ PermanentError(RegistryDenied)
 *  (warm: the only request)          or the token renewed         if it has changed
 * ```
 * The challenge of each registry is remembered, so that a warm token means one request.
 */
export function createAuthentication({ http, tokens, credentials }: AuthenticationOptions): AuthenticatedHttp {
  const challenges = new BoundedMap<string, Challenge | undefined>(maxChallenges);

  const learn = (request: HttpRequest, answer: HttpAnswer) => {
    const known = parseChallenges(answer.headers['www-authenticate']);
    const challenge = known.find(({ scheme }) => scheme === 'bearer') ?? known.find(({ scheme }) => scheme === 'basic');
    if (challenge) challenges.set(request.registry.name, challenge);
  };

  /** As docker does: some registries hide private repositories behind 404 and reveal only here that one may log in. */
  const ping = async (request: HttpRequest) => {
    const { registry, maxBytes, signal } = request;
    const what = `asking ${registry.name} how to log in`;
    const url = new URL('/v2/', registry.origin);
    const answer = await http({ registry, kind: 'token', what, method: 'GET', url, headers: {}, maxBytes, maxRedirects: 0, signal });
    if (answer.status < 500 && answer.status !== 429) challenges.set(registry.name, undefined);
    learn(request, answer);
  };

  const authorize = async (source: ImageSource, request: HttpRequest, credential: Credential | undefined, refused: string | undefined) => {
    const { registry, signal } = request;
    const challenge = challenges.get(registry.name);
    if (challenge?.scheme === 'basic') return { authorization: credential && basicAuthorization(credential) };
    const { realm, service } = challenge?.parameters ?? {};
    if (realm === undefined) return { authorization: undefined };
    try {
      const token = await tokens.get({ registry, repository: source, realm, service, credential }, refused, signal);
      return token === undefined ? undefined : { authorization: bearer + token };
    } catch (error) {
      // The token server may have moved: the next try asks the registry again where it is.
      if (!signal?.aborted && !(error instanceof WaitError)) challenges.delete(registry.name);
      throw error;
    }
  };

  const attempt = async (
    source: ImageSource,
    request: HttpRequest,
    credential: Credential | undefined,
    last?: Attempt,
  ): Promise<Attempt> => {
    const refused = last?.authorization?.startsWith(bearer) ? last.authorization.slice(bearer.length) : undefined;
    const authorized = await authorize(source, request, credential, refused);
    if (!authorized) return { authorization: last?.authorization };
    const { authorization } = authorized;
    if (last && last.authorization === authorization) return last;
    const headers = authorization === undefined ? request.headers : { ...request.headers, authorization };
    const answer = await http({ ...request, headers });
    if (isDenied(request, answer)) learn(request, answer);
    return { authorization, answer };
  };

  return async (source, request) => {
    const ask = (refresh: boolean) => abortable(credentials(source, { refresh }), request.signal);
    let credential = await ask(false);
    if (credential && !challenges.has(request.registry.name)) await ping(request);
    let last = await attempt(source, request, credential);
    if (last.answer && isDenied(request, last.answer)) last = await attempt(source, request, credential, last);
    if (last.answer && !isDenied(request, last.answer)) return last.answer;

    const renewed = await ask(true);
    if (!sameCredential(credential, renewed)) {
      credential = renewed;
      last = await attempt(source, request, credential, last);
      if (last.answer && !isDenied(request, last.answer)) return last.answer;
    }
    throw denied(source, request, last.answer, credential, credentials.whyNone?.(source));
  };
}

/** Only the registry itself can ask for authentication; a 401 behind a redirect is that host's trouble. */
function isDenied({ registry }: HttpRequest, { status, url }: HttpAnswer): boolean {
  return (status === 401 || status === 403) && url.origin === registry.origin;
}

function denied(
  source: ImageSource,
  { registry, what }: HttpRequest,
  answer: HttpAnswer | undefined,
  credential: Credential | undefined,
  whyNone: string | undefined,
): PermanentError {
  const by = answer
    ? `the registry ${registry.name} answered ${answer.status}${describeBody(answer.body)} to`
    : `the token server of ${registry.name} refused`;
  const whom = credential
    ? `the credentials of ${credential.source} (user ${credential.username})`
    : `an anonymous request${whyNone === undefined ? '' : ` (${whyNone})`}`;
  const remedy = credential
    ? `check that they are right and may pull ${formatRepository(source)}`
    : `if ${formatRepository(source)} exists, provide credentials that may pull it`;
  return new PermanentError('RegistryDenied', `${what}: ${by} ${whom}; ${remedy}`);
}
