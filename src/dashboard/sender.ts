/** Identifies the sender of a request to the dashboard for the API: by the headers of a proxy, or by the session. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { networkOf } from '../core/async/network-of.ts';
import { defined } from '../core/model/defined.ts';
import { type Vouched, vouchHeader, type Vouching } from '../service/api/vouch.ts';
import type { CallerHeaders, Sender } from './api-client.ts';
import { cookieNames, joinCookie, type Seal, type Session } from './session.ts';

/** How the dashboard identifies users. */
export type Identification =
  /** Users are not identified, and everybody who can connect may do everything. It is used on loopback only, which the API checks by `Host`. */
  | { readonly kind: 'none' }
  /** A proxy identifies users. Its headers are passed on unchanged, and the API checks them. */
  | { readonly kind: 'proxy'; readonly headers: readonly string[] }
  /** Users sign in. */
  | SessionIdentification;

interface SessionIdentification {
  readonly kind: 'session';
  readonly seal: Seal;
  readonly cookie: string;
  readonly proxy?: ProxyHeaders;
  /** Certifies to the API which client sent a token, and whether it is that of a session. */
  readonly vouching: Pick<Vouching, 'sign'>;
}

/** The headers for a user whom an identity provider named. For the API, the dashboard is then a proxy. */
export interface ProxyHeaders {
  readonly userHeader: string;
  readonly groupsHeader?: string | undefined;
  readonly secretHeader: string;
  readonly secret: () => string | undefined;
}

type Incoming = Pick<FastifyRequest, 'headers' | 'cookies' | 'raw' | 'ip'>;

/** Identifies the sender of a request; undefined if the user has to sign in. */
export async function identifySender(request: Incoming, how: Identification): Promise<Sender | undefined> {
  const { host } = request.headers;
  const peer = request.raw.socket.remoteAddress ?? '';
  switch (how.kind) {
    case 'none':
      return { headers: { ...defined({ host }) }, peer };
    case 'proxy':
      return { headers: passOn(request.raw.rawHeaders, how.headers), peer };
    case 'session': {
      const session = await openSession(request, how);
      return session && senderOf(session, { client: request.ip, isSession: true }, how);
    }
  }
}

/** The sessions of requests: each is decrypted once. */
const opened = new WeakMap<Incoming['raw'], Promise<Session | undefined>>();

function openSession({ raw, cookies }: Incoming, { seal, cookie }: SessionIdentification): Promise<Session | undefined> {
  const session = opened.get(raw) ?? seal.session.open(joinCookie(cookie, cookies));
  opened.set(raw, session);
  return session;
}

/** The key by which requests are counted: a session, a user behind a proxy, or a network. So nobody can use up the limit of a session. */
export async function countedAs(request: Incoming, how: Identification): Promise<string> {
  if (how.kind === 'proxy') return `${networkOf(request.ip)} ${String(request.headers[how.headers[0] ?? ''] ?? '')}`;
  const session = how.kind === 'session' ? await openSession(request, how) : undefined;
  if (session === undefined) return networkOf(request.ip);
  const key = keys.get(session) ?? createHash('sha256').update(JSON.stringify(session)).digest('base64');
  keys.set(session, key);
  return key;
}

const keys = new WeakMap<Session, string>();

/** The headers of a session for the API; undefined if they cannot name its user any more. */
export function senderOf(
  session: Session,
  from: Vouched,
  { proxy, vouching }: Pick<SessionIdentification, 'proxy' | 'vouching'>,
): Sender | undefined {
  // The address of the sender for the API, because the dashboard itself connects.
  const peer = '127.0.0.1';
  if (session.kind === 'token') {
    const { token } = session;
    return { headers: { authorization: `Bearer ${token}`, [vouchHeader]: vouching.sign(from, token) }, peer };
  }
  const secret = proxy?.secret();
  if (proxy === undefined || secret === undefined) return undefined;
  const { userHeader, groupsHeader, secretHeader } = proxy;
  const groups = groupsHeader === undefined ? {} : { [groupsHeader.toLowerCase()]: session.groups.filter(fitsIntoHeader).join(',') };
  return { headers: { [secretHeader.toLowerCase()]: secret, [userHeader.toLowerCase()]: session.user, ...groups }, peer };
}

/** Whether the name of a user or group fits into a header. With a comma in it, it would become two names. */
export function fitsIntoHeader(name: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.includes(',');
}

/** The names of the cookies of a session in a request. */
export function sessionCookies(request: Incoming, name: string): string[] {
  return cookieNames(name).filter((one) => request.cookies[one] !== undefined);
}

/** The headers of the proxy in a request. Throws RepeatedHeader. */
function passOn(rawHeaders: readonly string[], names: readonly string[]): CallerHeaders {
  const passed: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    if (!names.includes(name)) continue;
    const value = rawHeaders[index + 1] ?? '';
    if (name in passed) throw new RepeatedHeader(name);
    passed[name] = value;
  }
  return passed;
}

/** A header of the proxy is repeated. A proxy that adds its header to the client's own would let clients choose their identity. */
export class RepeatedHeader extends Error {
  override readonly name = 'RepeatedHeader';
  constructor(header: string) {
    super(`${header} is present more than once: the proxy must replace the headers of clients`);
  }
}
