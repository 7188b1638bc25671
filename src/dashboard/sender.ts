/** Who sends a request to the dashboard, in the terms of the API: by the headers of a proxy, or by the session. */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Vouched, vouchHeader, type Vouching } from '../service/api/vouch.ts';
import type { CallerHeaders, Sender } from './api-client.ts';
import { cookieNames, joinCookie, type Seal, type Session } from './session.ts';

/** How users are known. */
export type Identification =
  /** Everybody who can connect may do everything: on loopback only, which the API checks by `Host`. */
  | { readonly kind: 'none' }
  /** A proxy in front names them: these headers are passed on as they are, and the API checks them. */
  | { readonly kind: 'proxy'; readonly headers: readonly string[] }
  /** They sign in. */
  | SessionIdentification;

interface SessionIdentification {
  readonly kind: 'session';
  readonly seal: Seal;
  readonly cookie: string;
  readonly proxy?: ProxyHeaders;
  /** Says at the API which client sent a token, and whether it is that of a session. */
  readonly vouching: Pick<Vouching, 'sign'>;
}

/** How the API is told a user whom an identity provider named: the dashboard is its proxy. */
export interface ProxyHeaders {
  readonly userHeader: string;
  readonly groupsHeader?: string | undefined;
  readonly secretHeader: string;
  readonly secret: () => string | undefined;
}

type Incoming = Pick<FastifyRequest, 'headers' | 'cookies' | 'raw' | 'ip'>;

/** Returns who sent a request; undefined if he has to sign in. */
export async function identifySender(request: Incoming, how: Identification): Promise<Sender | undefined> {
  const { host } = request.headers;
  const peer = request.raw.socket.remoteAddress ?? '';
  switch (how.kind) {
    case 'none':
      return { headers: { ...(host !== undefined && { host }) }, peer };
    case 'proxy':
      return { headers: passOn(request.raw.rawHeaders, how.headers), peer };
    case 'session': {
      const session = await how.seal.session.open(joinCookie(how.cookie, request.cookies));
      return session && senderOf(session, { client: request.ip, isSession: true }, how);
    }
  }
}

/** Whose requests are counted together: those of a session, of a user behind a proxy, or of an address. Nobody uses up what a session needs. */
export async function countedAs(request: Incoming, how: Identification): Promise<string> {
  if (how.kind === 'proxy') return `${request.ip} ${String(request.headers[how.headers[0] ?? ''] ?? '')}`;
  const session = how.kind === 'session' ? await how.seal.session.open(joinCookie(how.cookie, request.cookies)) : undefined;
  if (session === undefined) return request.ip;
  return createHash('sha256').update(JSON.stringify(session)).digest('base64');
}

/** What a session sends to the API; undefined if its user cannot be named there any more. */
export function senderOf(
  session: Session,
  from: Vouched,
  { proxy, vouching }: Pick<SessionIdentification, 'proxy' | 'vouching'>,
): Sender | undefined {
  // The dashboard itself is who connects.
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

/** Whether the name of a user or group can be sent in a header. With a comma in it, it would become two. */
export function fitsIntoHeader(name: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.includes(',');
}

/** The names of the cookies of a session that are present. */
export function sessionCookies(request: Incoming, name: string): string[] {
  return cookieNames(name).filter((one) => request.cookies[one] !== undefined);
}

/** Throws RepeatedHeader. */
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

/** A proxy that adds its header to the client's own would let clients choose who they are. */
export class RepeatedHeader extends Error {
  override readonly name = 'RepeatedHeader';
  constructor(header: string) {
    super(`${header} is present more than once: the proxy must replace the headers of clients`);
  }
}
