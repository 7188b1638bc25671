import type { Server, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createFairSeats } from './fair-seats.ts';

/** Which requests of the conversion listener are read at all, and when: anybody in the cluster may send them. */

/** Whose certificate a client must show. */
export interface ConversionClients {
  /** The authorities of the certificates, PEM. */
  readonly ca: string;
  /** The common names of those who may ask; empty: all. */
  readonly names: readonly string[];
}

export interface AdmissionOptions {
  readonly bodyLimitBytes: number;
  /** How long the body, the conversion and the answer may take together, once it is a review's turn; 5 s unless given. */
  readonly reviewTimeoutMs?: number;
  readonly clients?: ConversionClients | undefined;
}

/** A review that may be read. */
export interface AdmittedReview {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** How long the converted objects may be, together. */
  readonly maxAnswerLength: number;
}

/** An answer before the body is read. */
export interface Refusal {
  readonly status: 403 | 413 | 415 | 429;
  readonly error: string;
}

/** Decides before a byte of the body is read, and waits for the review's turn. */
export type AdmitReview = (request: FastifyRequest, reply: FastifyReply) => Promise<AdmittedReview | Refusal>;

/** Almost every policy. Longer reviews are read one at a time, whoever sends them. */
const smallBytes = 128 * 1024;
/** What comes of a small one fits into etcd, which takes 1.5 MiB, or could not have been stored. */
const smallAnswerLength = 2 * 1024 * 1024;
const waiting = { maxQueuedPerFlow: 500, maxWaitMs: 10_000 };

export function createAdmission({ bodyLimitBytes, reviewTimeoutMs = 5_000, clients }: AdmissionOptions): AdmitReview {
  const small = createFairSeats({ seats: 8, seatsPerFlow: 4, ...waiting });
  const large = createFairSeats({ seats: 1, seatsPerFlow: 1, ...waiting });
  return async (request, reply) => {
    const { headers, raw, ip } = request;
    if (!isKnown(raw.socket, clients)) return { status: 403, error: 'this client may not ask for conversions' };
    if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return { status: 415, error: 'the content type is not JSON' };
    // Without a length only its end tells: it may be as long as any.
    const length = Number(headers['content-length'] ?? bodyLimitBytes);
    if (length > bodyLimitBytes) return { status: 413, error: tooLong(bodyLimitBytes) };
    const isSmall = length <= smallBytes;
    const ended = new AbortController();
    reply.raw.once('close', () => ended.abort());
    const giveUpSeat = await (isSmall ? small : large).take(ip, ended.signal);
    if (giveUpSeat === undefined) return { status: 429, error: 'too many reviews at a time' };
    // The seat is free again when the answer has left, or the time is over: slow senders and readers keep nobody from it.
    const timer = setTimeout(() => {
      ended.abort();
      raw.socket.destroy();
    }, reviewTimeoutMs);
    const end = () => {
      clearTimeout(timer);
      giveUpSeat();
    };
    reply.raw.once('finish', end).once('close', end);
    return { signal: ended.signal, maxAnswerLength: isSmall ? smallAnswerLength : 2 * bodyLimitBytes };
  };
}

/** What is said of a body over the limit. */
export function tooLong(bodyLimitBytes: number): string {
  return `the review is longer than conversion.bodyLimitBytes (${bodyLimitBytes})`;
}

function isKnown(socket: FastifyRequest['raw']['socket'], clients: ConversionClients | undefined): boolean {
  if (clients === undefined || clients.names.length === 0) return true;
  const name: unknown = (socket as TLSSocket).getPeerCertificate().subject?.CN;
  return typeof name === 'string' && clients.names.includes(name);
}

/**
 * Bounds a server's connections, so that nobody can take all of them: when there are too many, the address with the most of them loses its oldest one, or,
 * if that address is the newcomer's, the newcomer is refused.
 */
export function boundConnections(server: Pick<Server, 'on'>, most: number): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const own = open.get(address) ?? new Set();
    open.set(address, own.add(socket));
    count++;
    socket.once('close', () => {
      count--;
      own.delete(socket);
      if (own.size === 0 && open.get(address) === own) open.delete(address);
    });
    if (count <= most) return;
    let largest = own;
    for (const sockets of open.values()) if (sockets.size > largest.size) largest = sockets;
    const [oldest = socket] = largest;
    (largest === own ? socket : oldest).destroy();
  });
}
