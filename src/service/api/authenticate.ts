/** Authenticates callers of the API according to the setting `operations.auth`, and determines their permissions. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import { defined } from '../../core/model/defined.ts';
import type { Caller } from '../../core/model/caller.ts';
import { type Access, AccessError, type Credentials, type Question, type ReviewAccess, type ReviewToken } from './access.ts';
import { boundQuestions } from './bound-questions.ts';
import { createProofs } from './proofs.ts';
import { boundReviews } from './review-tokens.ts';
import { type Vouching, vouchHeader } from './vouch.ts';

/** How callers are authenticated and authorized. unavailable: this process cannot do so, and answers with `why`. */
export type OperationsAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'unavailable'; readonly why: string }
  | {
      readonly kind: 'kubernetes';
      readonly reviewToken: ReviewToken;
      readonly reviewAccess: ReviewAccess;
      /** A proxy whose users are also accepted, if its requests contain its secret. */
      readonly proxy?: TrustedProxy;
      /** Reads the vouches of the dashboard; if absent, none are accepted. */
      readonly vouching?: Pick<Vouching, 'read'>;
    }
  | { readonly kind: 'proxy'; readonly proxy: TrustedProxy; readonly reviewAccess: ReviewAccess };

/** A reverse proxy that authenticates users and sends their names in headers. */
export interface TrustedProxy {
  readonly userHeader: string;
  /** The header with the user's groups. Without it, users have no groups: a header that the proxy does not set could be the client's. */
  readonly groupsHeader?: string | undefined;
  /** The name of the header in which the proxy sends its secret. */
  readonly secretHeader: string;
  readonly secret: () => string | undefined;
  /** The addresses or networks (10.0.0.0/8) that the proxy connects from. */
  readonly trustedPeers: readonly string[];
}

export interface ApiRequest {
  /** Every occurrence of a header, whose name is in lower case. */
  readonly valuesOf: (header: string) => readonly string[];
  /** The peer address of the connection, never taken from a header. */
  readonly peer: string;
  /** The address of the client: the peer, or the address that a trusted proxy reports. Only limits depend on it. */
  readonly client: string;
}

/** Authenticates a request; throws AccessError. */
export type Authenticate = (request: ApiRequest) => Promise<Access>;

/** How long an answer of the API server is cached. A revoked permission stays effective for this long. */
const freshMs = 10_000;
/** How long it counts for reading while the API server does not answer: as long as a stream lives, which is authenticated once. */
const oldMs = 600_000;

/** Creates the authentication of one process, with its caches. */
export function createAuthenticate(auth: OperationsAuth, elapsed: () => number): Authenticate {
  const callers = createProofs<Caller | undefined>({ freshMs, oldMs, limit: 1_000, elapsed });
  const rights = createProofs<boolean>({ freshMs, oldMs, limit: 10_000, elapsed });
  const accessOf = (caller: Caller, reviewAccess: ReviewAccess, credentials: Credentials): Access => ({
    user: caller.user,
    credentials,
    may: (question) =>
      askAll(question, (one) => orUnavailable(rights.get(keyOf(caller, one), () => reviewAccess(caller, one), one.verb !== 'update'))),
  });

  switch (auth.kind) {
    case 'none':
      return () => Promise.resolve({ user: 'anonymous', credentials: { kind: 'none' }, may: () => Promise.resolve(true) });
    case 'unavailable':
      return () => Promise.reject(new AccessError(503, auth.why));
    case 'kubernetes': {
      const { proxy } = auth;
      const isTrusted = trust(proxy?.trustedPeers ?? []);
      const reviewToken = boundReviews(auth.reviewToken, elapsed);
      const reviewAccess = boundQuestions(auth.reviewAccess, elapsed);
      return async (request) => {
        if (proxy !== undefined && request.valuesOf(proxy.secretHeader.toLowerCase()).length > 0) {
          requireProxy(request, proxy, isTrusted);
          return accessOf(readCaller(request, proxy), reviewAccess, { kind: 'proxy' });
        }
        const token = bearerOf(request);
        if (token === undefined) throw new AccessError(401, 'send a bearer token that the API server knows');
        const key = hash(token);
        const from = auth.vouching?.read(request.valuesOf(vouchHeader)[0], token) ?? { client: request.client, isSession: false };
        const caller = await orUnavailable(callers.get(key, () => reviewToken({ value: token, hash: key }, from), true));
        if (caller === undefined) throw new AccessError(401, 'the API server does not know this token');
        return accessOf(caller, reviewAccess, { kind: 'token', token });
      };
    }
    case 'proxy': {
      const isTrusted = trust(auth.proxy.trustedPeers);
      const reviewAccess = boundQuestions(auth.reviewAccess, elapsed);
      return async (request) => {
        requireProxy(request, auth.proxy, isTrusted);
        return Promise.resolve(accessOf(readCaller(request, auth.proxy), reviewAccess, { kind: 'proxy' }));
      };
    }
  }
}

function requireProxy(request: ApiRequest, proxy: TrustedProxy, isTrusted: (peer: string) => boolean): void {
  if (!isTrusted(request.peer)) throw new AccessError(401, 'requests must come from the trusted proxy (operations.proxy.trustedPeers)');
  if (!knowsSecret(request, proxy))
    throw new AccessError(401, `requests must come from the trusted proxy: ${proxy.secretHeader} is not operations.proxy.secret`);
}

/** Asks for the permission in all namespaces first. It includes each of them, and its answer is shared. */
async function askAll(question: Question, ask: (question: Question) => Promise<boolean>): Promise<boolean> {
  const { verb, resource } = question;
  if (await ask({ verb, ...defined({ resource }) })) return true;
  return question.namespace !== undefined && ask(question);
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AccessError) throw error;
    throw new AccessError(503, 'the API server could not be asked for your permissions', { cause: error });
  }
}

function bearerOf({ valuesOf }: ApiRequest): string | undefined {
  const [value, ...more] = valuesOf('authorization');
  return value === undefined || more.length > 0 ? undefined : /^Bearer +([\w.~+/=-]{1,16384})$/i.exec(value)?.[1];
}

/** Whether a request contains the secret of the proxy. An address does not identify it: a port-forward comes from loopback, and pods change addresses. */
function knowsSecret({ valuesOf }: ApiRequest, { secretHeader, secret }: TrustedProxy): boolean {
  const [value, ...more] = valuesOf(secretHeader.toLowerCase());
  const known = secret();
  if (value === undefined || more.length > 0 || known === undefined) return false;
  return timingSafeEqual(Buffer.from(hash(value)), Buffer.from(hash(known)));
}

/**
 * Reads the user and groups from the proxy's headers. Each must be present exactly once. If one is missing, the proxy does not set it, and a client could; if
 * one is present twice, one of them is the client's.
 */
function readCaller(request: ApiRequest, { userHeader, groupsHeader }: TrustedProxy): Caller {
  const user = readOnce(request, userHeader).trim();
  if (user === '' || user.includes(',')) throw new AccessError(401, `the proxy names no user in ${userHeader}`);
  // Users of a proxy must not be built-in users or groups of the cluster, because system:masters may do everything.
  if (user.startsWith('system:')) throw new AccessError(403, 'system: users are not accepted from the proxy');
  const groups = groupsHeader === undefined ? [] : readOnce(request, groupsHeader).split(',');
  const named = groups.map((group) => group.trim()).filter((group) => group !== '' && !group.startsWith('system:'));
  return { user, groups: [...named, 'system:authenticated'] };
}

function readOnce({ valuesOf }: ApiRequest, header: string): string {
  const [value, ...more] = valuesOf(header.toLowerCase());
  if (value === undefined) throw new AccessError(401, `the proxy must send ${header} with every request, if necessary with an empty value`);
  if (more.length > 0) throw new AccessError(401, `${header} is present more than once: the proxy must replace the headers of clients`);
  return value;
}

function trust(peers: readonly string[]): (peer: string) => boolean {
  const list = new BlockList();
  for (const peer of peers) {
    const [address = '', bits] = peer.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (peer) => peer !== '' && list.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4');
}

function keyOf(caller: Caller, { verb, resource = '', namespace = '' }: Question): string {
  const known = callerKeys.get(caller) ?? hash(JSON.stringify([caller.user, caller.uid, caller.groups, caller.extra]));
  callerKeys.set(caller, known);
  // Neither part can contain a space.
  return `${known} ${verb} ${resource} ${namespace}`;
}

const callerKeys = new WeakMap<Caller, string>();

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly contentType: string | undefined;
}

/** Protects POST requests from cross-site forgery; returns why one is refused. Forms of other sites cannot send JSON, and the Origin of a same-site request is the Host. */
export function refusePost({ host, origin, contentType }: RequestOrigin): { status: 403 | 415; message: string } | undefined {
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? '')) return { status: 415, message: 'send content-type: application/json' };
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase())) return undefined;
  return { status: 403, message: 'the Origin is not the Host' };
}

/** Whether the Host header names this machine. On an API without authentication, any other name that resolves to it may be a DNS rebinding attack. */
export function isLocalHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host);
}
