/** Requests tokens by the distribution specification: https://distribution.github.io/distribution/spec/auth/token/ */
import { hash } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import type { Repository } from '../../core/model/image-reference.ts';
import { type Clock, unexpectedAnswer } from './answer-errors.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { basicAuthorization, type Credential } from './credential.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import type { Registry } from './registries.ts';
import { SingleFlight } from '../../core/async/single-flight.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** A request for a token for a repository and scope, with a credential, at the token server `realm`. */
export interface TokenRequest {
  readonly registry: Registry;
  readonly repository: Repository;
  readonly realm: string;
  readonly service?: string | undefined;
  /** The access that the token must grant: `repository:team/app:pull`; several are separated by spaces. */
  readonly scope: string;
  readonly credential: Credential | undefined;
}

type TokenQuery = Pick<TokenRequest, 'registry' | 'realm' | 'credential'> & {
  readonly what: string;
  /** The fields `service` and `scope` of a request, as the specification names them. */
  readonly fields: Readonly<Record<string, string>>;
};

export interface TokensOptions {
  http: Http;
  clock: Clock;
}

const maxTokens = 10_000;
const maxTokenBytes = 256 * 1024;
// The lifetime that the specification prescribes if the answer has no `expires_in`.
const defaultLifetimeSeconds = 60;
const maxIdentityTokens = 1_000;
const visible = /^[\x21-\x7e]+$/;

/** A token; `isRemembered`: it was fetched for an earlier request, so its server may have forgotten it since. */
export interface KnownToken {
  readonly token: string;
  readonly isRemembered: boolean;
}

/** Caches tokens by registry, repository, token server, scope and credential; concurrent requests for the same token share one fetch. */
export class Tokens {
  readonly #cache = new BoundedMap<string, { token: string; usableUntil: number }>(maxTokens);
  readonly #flights = new SingleFlight<string | undefined>();
  /** The newest identity tokens, where token servers have replaced those of credentials. */
  readonly #identityTokens = new BoundedMap<string, string>(maxIdentityTokens);
  readonly #options: TokensOptions;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** Returns a token other than `refused`, which the registry has refused. Undefined if the token server refuses the credential. */
  async get(request: TokenRequest, refused: string | undefined, signal?: AbortSignal): Promise<KnownToken | undefined> {
    const key = cacheKey(request);
    const cached = this.#cache.get(key);
    if (cached && cached.token !== refused && this.#options.clock.now() < cached.usableUntil)
      return { token: cached.token, isRemembered: true };
    const token = await this.#flights.run(key, (signal) => this.#fetch(key, request, signal), signal);
    return token === undefined ? undefined : { token, isRemembered: false };
  }

  async #fetch(key: string, request: TokenRequest, signal: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#options;
    const what = `fetching a token for ${request.registry.name}/${request.repository.path}`;
    if (!URL.canParse(request.realm)) throw new Error(`${what}: the registry names a token realm that is not a URL`);
    const askedAt = clock.now();
    const answer = await this.#ask(callOf(request, what), signal);
    if (answer === undefined) {
      this.#cache.delete(key);
      return undefined;
    }
    if (answer.status !== 200) throw unexpectedAnswer(what, answer, clock);
    const { token, lifetimeSeconds } = parseToken(what, answer);
    // The margin keeps a token from expiring in transit. The lifetime counts from the request, because the server's clock may differ.
    const usableMs = (lifetimeSeconds - Math.min(lifetimeSeconds / 5, 30)) * 1000;
    this.#cache.set(key, { token, usableUntil: askedAt + usableMs });
    return token;
  }

  /** Requests a token; undefined if the token server refuses the credential. */
  async #ask(call: TokenQuery, signal: AbortSignal): Promise<HttpAnswer | undefined> {
    const { http } = this.#options;
    const { identityToken } = call.credential ?? {};
    const answer = identityToken === undefined ? undefined : await this.#exchange(call, identityToken, signal);
    if (answer === 'refused') return undefined;
    if (answer !== undefined) return answer;
    const byGet = await http({ ...getCall(call), signal });
    return isRefused(byGet) ? undefined : byGet;
  }

  /**
   * Exchanges an identity token by OAuth2 (RFC 6749 §6); undefined if the token server does not support that. The server may replace the identity token in each
   * exchange, including concurrent ones, and then accepts only the newest.
   */
  async #exchange(call: TokenQuery, identityToken: string, signal: AbortSignal): Promise<HttpAnswer | 'refused' | undefined> {
    const owner = `${call.registry.name} ${call.realm} ${hashCredential(call.credential)}`;
    const tried = new Set<string>();
    for (;;) {
      const current = [this.#identityTokens.get(owner), identityToken].find((known) => known !== undefined && !tried.has(known));
      if (current === undefined) return 'refused';
      tried.add(current);
      const answer = await this.#options.http({ ...postCall(call, current), signal });
      if (answer.status === 404 || answer.status === 405) return undefined;
      // With 400, OAuth2 (RFC 6749 §5.2) refuses a refresh token.
      if (!isRefused(answer) && answer.status !== 400) {
        const replaced = answer.status === 200 ? parseObject(answer)?.refresh_token : undefined;
        if (typeof replaced === 'string' && visible.test(replaced)) this.#identityTokens.set(owner, replaced);
        return answer;
      }
      if (this.#identityTokens.get(owner) === current) this.#identityTokens.delete(owner);
    }
  }
}

function isRefused({ status }: HttpAnswer): boolean {
  return status === 401 || status === 403;
}

function callOf({ registry, realm, service, scope, credential }: TokenRequest, what: string): TokenQuery {
  return { registry, realm, credential, what, fields: { ...defined({ service }), scope } };
}

/** The request with Basic authentication, or anonymous. Without a password, an identity token serves as the password. */
function getCall({ registry, realm, credential, what, fields }: TokenQuery): HttpRequest {
  const url = new URL(realm);
  // RFC 6749 separates scopes by spaces, but the token servers of registries expect a parameter for each.
  for (const [name, value] of Object.entries(fields)) {
    url.searchParams.delete(name);
    for (const one of name === 'scope' ? value.split(' ') : [value]) url.searchParams.append(name, one);
  }
  const password = credential?.password || credential?.identityToken || '';
  const headers = credential ? { authorization: basicAuthorization({ ...credential, password }) } : {};
  return { registry, kind: 'token', what, method: 'GET', url, headers, maxBytes: maxTokenBytes, maxRedirects: 0 };
}

function postCall({ registry, realm, what, fields }: TokenQuery, identityToken: string): HttpRequest {
  const form = { grant_type: 'refresh_token', client_id: 'image-watcher', refresh_token: identityToken, ...fields };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams(form).toString();
  return { registry, kind: 'token', what, method: 'POST', url: new URL(realm), headers, body, maxBytes: maxTokenBytes, maxRedirects: 0 };
}

function parseToken(what: string, answer: HttpAnswer): { token: string; lifetimeSeconds: number } {
  const document = parseObject(answer);
  if (document === undefined) throw new Error(`${what}: the answer is not valid JSON`);
  const token = document.token || document.access_token;
  if (typeof token !== 'string' || !visible.test(token)) throw new Error(`${what}: the answer holds no token`);
  const lifetime = document.expires_in;
  return { token, lifetimeSeconds: typeof lifetime === 'number' && lifetime > 0 ? lifetime : defaultLifetimeSeconds };
}

/** Parses an object; undefined for invalid JSON. The parser's message is not kept, because it quotes the text, which may contain a token. */
function parseObject({ body }: HttpAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    const document: unknown = parseBoundedJson(body);
    return typeof document === 'object' && document !== null ? { ...document } : {};
  } catch {
    return undefined;
  }
}

function cacheKey({ registry, repository, realm, service, scope, credential }: TokenRequest): string {
  return JSON.stringify([registry.name, repository.path, realm, service, scope, hashCredential(credential)]);
}

function hashCredential(credential: Credential | undefined): string {
  return credential ? hash('sha256', JSON.stringify([credential.username, credential.password, credential.identityToken])) : '';
}
