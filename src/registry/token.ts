/** The token flow of the distribution specification: https://distribution.github.io/distribution/spec/auth/token/ */
import { hash } from 'node:crypto';
import type { Repository } from '../core/image-reference.ts';
import { type Clock, unexpectedAnswer } from './answer-errors.ts';
import { BoundedMap } from './bounded-map.ts';
import { basicAuthorization, type Credential } from './credential.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Registry } from './registries.ts';
import { SingleFlight } from './single-flight.ts';

/** Who wants to read what, and where a token for it is to be had. */
export interface TokenRequest {
  readonly registry: Registry;
  readonly repository: Repository;
  readonly realm: string;
  readonly service?: string | undefined;
  readonly credential: Credential | undefined;
}

export interface TokensOptions {
  http: Http;
  clock: Clock;
}

const maxTokens = 10_000;
const maxTokenBytes = 256 * 1024;
// What the specification prescribes when the server does not say.
const defaultLifetimeSeconds = 60;

/** Tokens by registry, repository and credential, each fetched once for all who wait for it. */
export class Tokens {
  readonly #cache = new BoundedMap<string, { token: string; usableUntil: number }>(maxTokens);
  readonly #flights = new SingleFlight<string | undefined>();
  readonly #options: TokensOptions;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** A token that is `refused` is dropped and another one fetched. Undefined when the token server refuses the credential. */
  async get(request: TokenRequest, refused: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const key = cacheKey(request);
    const cached = this.#cache.get(key);
    if (cached && cached.token !== refused && this.#options.clock.now() < cached.usableUntil) return cached.token;
    return this.#flights.run(key, (signal) => this.#fetch(key, request, signal), signal);
  }

  async #fetch(key: string, request: TokenRequest, signal: AbortSignal): Promise<string | undefined> {
    const { http, clock } = this.#options;
    const what = `fetching a token for ${request.registry.name}/${request.repository.path}`;
    const askedAt = clock.now();
    const answer = await http({ ...tokenCall(request, what), signal });
    // 400 is how OAuth2 (RFC 6749 §5.2) refuses a refresh token.
    const isRefused =
      answer.status === 401 || answer.status === 403 || (answer.status === 400 && request.credential?.identityToken !== undefined);
    if (isRefused) {
      this.#cache.delete(key);
      return undefined;
    }
    if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
    const { token, lifetimeSeconds } = parseToken(what, answer);
    // A margin, so that a token does not expire on its way; counted from the request, because the server's clock may differ.
    const usableMs = (lifetimeSeconds - Math.min(lifetimeSeconds / 5, 30)) * 1000;
    this.#cache.set(key, { token, usableUntil: askedAt + usableMs });
    return token;
  }
}

/** GET with user and password, or anonymously; an identity token is exchanged by the OAuth2 form. */
function tokenCall({ registry, repository, realm, service, credential }: TokenRequest, what: string): HttpRequest {
  if (!URL.canParse(realm)) throw new Error(`${what}: the registry names a token realm that is not a URL`);
  const url = new URL(realm);
  const scope = `repository:${repository.path}:pull`;
  const fields = { ...(service !== undefined && { service }), scope };
  const common = { registry, kind: 'token', what, maxBytes: maxTokenBytes, maxRedirects: 0 } as const;
  if (credential?.identityToken !== undefined) {
    const form = { grant_type: 'refresh_token', client_id: 'image-watcher', refresh_token: credential.identityToken, ...fields };
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { ...common, method: 'POST', url, headers, body: new URLSearchParams(form).toString() };
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return { ...common, method: 'GET', url, headers: credential ? { authorization: basicAuthorization(credential) } : {} };
}

function parseToken(what: string, { body }: HttpAnswer): { token: string; lifetimeSeconds: number } {
  let document: { token?: unknown; access_token?: unknown; expires_in?: unknown } | null;
  try {
    document = JSON.parse(body.toString('utf8')) as typeof document;
  } catch {
    // The parser's own message quotes the text, which may hold a token.
    throw new Error(`${what}: the answer is not valid JSON`);
  }
  const token = document?.token || document?.access_token;
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) throw new Error(`${what}: the answer holds no token`);
  const lifetime = document?.expires_in;
  return { token, lifetimeSeconds: typeof lifetime === 'number' && lifetime > 0 ? lifetime : defaultLifetimeSeconds };
}

function cacheKey({ registry, repository, credential }: TokenRequest): string {
  const who = credential ? hash('sha256', JSON.stringify([credential.username, credential.password, credential.identityToken])) : '';
  return `${registry.name} ${repository.path} ${who}`;
}
