import { WaitError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { type Challenge, challengedScope, deleteScope, parseChallenges, pullScope, pushScope, type TokenScope } from './challenge.ts';
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
  /** Whether the request was sent with a token of an earlier request. */
  readonly isRemembered?: boolean;
  readonly answer?: HttpAnswer;
}

/** The authentication that a registry demands. Without a challenge, it demands none; without a scope, the scope is that of the kind of request. */
interface Wanted {
  readonly challenge?: Challenge;
  readonly scope?: TokenScope | undefined;
}

const maxRemembered = 10_000;
const bearer = 'Bearer ';
/** The service that Harbor names in its challenges: https://github.com/goharbor/harbor/blob/main/src/core/service/token/creator.go */
const harborService = 'harbor-registry';
/** The scopes of requests that write. All others only read. */
const writeScopes: Readonly<Partial<Record<HttpRequest['kind'], TokenScope>>> = { push: pushScope, delete: deleteScope };

/**
 * ```
 *  request by the known challenge ──▶ if refused: again, by the new challenge or with a new token
 *  (usually the only request)
 * ```
 * Remembers the challenge for each kind of request to each repository, so that a cached token means one request. Until a repository has sent its own, the last
 * one of the registry is used: most registries have one token server, some have several.
 */
export function createAttempts(http: Http, tokens: Tokens): Attempt {
  const known = new BoundedMap<string, Wanted>(maxRemembered);

  const remember = (keys: readonly string[], source: ImageSource, request: HttpRequest, answer: HttpAnswer) => {
    const sent = parseChallenges(answer.headers['www-authenticate']);
    const challenge = sent.find(({ scheme }) => scheme === 'bearer') ?? sent.find(({ scheme }) => scheme === 'basic');
    if (!challenge) return;
    const scope = challengedScope(challenge, source.path, writeScopes[request.kind]);
    for (const key of keys)
      known.set(key, key === request.registry.name ? { challenge } : { challenge, scope: scope ?? known.get(key)?.scope });
  };

  /** Requests `/v2/`, as docker does: some registries answer 404 for private repositories, and send a challenge only here. */
  const ping = async (source: ImageSource, request: HttpRequest) => {
    const { registry, maxBytes, signal } = request;
    const what = `asking ${registry.name} how to log in`;
    const url = new URL('/v2/', registry.origin);
    const answer = await http({ registry, kind: 'token', what, method: 'GET', url, headers: {}, maxBytes, maxRedirects: 0, signal });
    if (answer.status < 500 && answer.status !== 429) known.set(registry.name, {});
    const [, ...ofRegistry] = keysOf(source, request);
    remember(ofRegistry, source, request, answer);
  };

  const authorize = async (source: ImageSource, request: HttpRequest, credential: Credential | undefined, refused: string | undefined) => {
    const { registry, signal } = request;
    if (request.kind === 'scan') return { authorization: credential && scanAuthorization(request, credential) };
    if (credential?.registryToken !== undefined) return { authorization: bearer + credential.registryToken };
    const keys = keysOf(source, request);
    const { challenge, scope: scopeFor } = keys.map((key) => known.get(key)).find((wanted) => wanted !== undefined) ?? {};
    if (challenge?.scheme === 'basic') return { authorization: credential && basicAuthorization(credential) };
    const { realm, service } = challenge?.parameters ?? {};
    if (realm === undefined) return { authorization: undefined };
    try {
      const own = (scopeFor ?? writeScopes[request.kind] ?? pullScope)(source.path);
      const scope = request.alsoReads === undefined ? own : `${own} ${pullScope(request.alsoReads)}`;
      const found = await tokens.get({ registry, repository: source, realm, service, scope, credential }, refused, signal);
      return found && { authorization: bearer + found.token, isRemembered: found.isRemembered };
    } catch (error) {
      // The challenge is forgotten, because the token server may have moved. The next attempt gets a new challenge from the registry.
      if (!signal?.aborted && !(error instanceof WaitError)) for (const key of keys) known.delete(key);
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
    // The challenge of Harbor's API is not the registry's, which usually wants tokens.
    if (request.kind !== 'scan' && isRefusal(request, answer)) remember(keysOf(source, request), source, request, answer);
    return { ...authorized, answer };
  };

  /**
   * Harbor's API wants the user and the password themselves. They are sent only to a registry that says that it is Harbor, since others expect them at their
   * token server only.
   */
  const scanAuthorization = ({ registry, what }: HttpRequest, credential: Credential): string | undefined => {
    const challenge = known.get(registry.name)?.challenge;
    if (challenge?.scheme === 'basic' || challenge?.parameters.service === harborService)
      return credential.password === '' ? undefined : basicAuthorization(credential);
    throw new Error(`${what}: ${registry.name} has not said that it is Harbor (service="${harborService}"), so it gets no password`);
  };

  /** The challenge by which a request is sent first: that of the repository, or the last one of the registry. `isOwn`: the repository has sent it. */
  const knownChallenge = (
    source: ImageSource,
    request: HttpRequest,
  ): { readonly isOwn: boolean; readonly parameters: Challenge['parameters'] | undefined } => {
    const [own = '', ...ofRegistry] = keysOf(source, request);
    const parameters = ofRegistry.map((key) => known.get(key)).find((wanted) => wanted !== undefined)?.challenge?.parameters;
    return { isOwn: known.has(own), parameters };
  };

  /** Whether the repository, requested without authentication, names another token server than the one that gave no token. */
  const hasOtherRealm = async (
    source: ImageSource,
    request: HttpRequest,
    { isOwn, parameters: tried }: ReturnType<typeof knownChallenge>,
  ): Promise<boolean> => {
    const [own = ''] = keysOf(source, request);
    if (isOwn || tried === undefined || writeScopes[request.kind] !== undefined) return false;
    const answer = await http(request);
    if (isRefusal(request, answer)) remember([own], source, request, answer);
    const named = known.get(own)?.challenge;
    return named !== undefined && (named.parameters.realm !== tried.realm || named.parameters.service !== tried.service);
  };

  return async (source, request, credential) => {
    if (credential && credential.registryToken === undefined && !known.has(request.registry.name)) await ping(source, request);
    const tried = knownChallenge(source, request);
    let first: Sent;
    try {
      first = await send(source, request, credential);
    } catch (error) {
      // The challenge is forgotten if its token server has failed. That of other repositories may not know this one at all, and say so in its own way.
      const hasFailed = !known.has(request.registry.name) && !request.signal?.aborted && !(error instanceof WaitError);
      const hasOther = hasFailed && (await hasOtherRealm(source, request, tried));
      if (!hasOther) throw error;
      first = await send(source, request, credential);
    }
    if (!first.answer) return (await hasOtherRealm(source, request, tried)) ? (await send(source, request, credential)).answer : undefined;
    if (!isRefusal(request, first.answer) && !(first.isRemembered && mayBeOldToken(request, first.answer))) return first.answer;
    return (await send(source, request, credential, first)).answer;
  };
}

/** The keys under which the challenge for a request is remembered, in the order of the lookup. */
function keysOf({ path }: ImageSource, { registry: { name }, kind }: HttpRequest): readonly string[] {
  return [`${name} ${kind} ${path}`, `${name} ${kind}`, name];
}

/** The kinds of requests whose 404 may mean that the resource is missing, whatever the credentials. */
const mayBeMissing: ReadonlySet<HttpRequest['kind']> = new Set(['manifest', 'referrers', 'push', 'delete']);

/** Whether an answer may mean that a token has expired or was revoked. Some registries answer 400 or 404 instead of 401. */
function mayBeOldToken({ registry, kind }: HttpRequest, { status, url }: HttpAnswer): boolean {
  if (status === 429 || (status === 404 && mayBeMissing.has(kind))) return false;
  return status >= 400 && status < 500 && url.origin === registry.origin;
}

/** Whether an answer is the registry's own 401 or 403. Only the registry can require authentication: after a redirect, these statuses are ordinary answers. */
export function isRefusal({ registry }: HttpRequest, { status, url }: HttpAnswer): boolean {
  return (status === 401 || status === 403) && url.origin === registry.origin;
}
