/** Decides which connections and requests the conversion listener accepts, and when. Anybody in the cluster may open them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TLSSocket } from 'node:tls';
import { createFairSeats } from './fair-seats.ts';

/** The client certificates that are accepted. */
export interface ConversionClients {
  /** The authorities of the certificates, PEM. */
  readonly ca: string;
  /** The accepted common names; empty for all. */
  readonly names: readonly string[];
}

export interface AdmissionOptions {
  readonly bodyLimitBytes: number;
  /** The maximum time for the body, the conversion and the answer together, once the review has a seat. 5 s by default. */
  readonly reviewTimeoutMs?: number;
  readonly clients?: ConversionClients | undefined;
}

/** An admitted review, which holds a seat. */
export interface AdmittedReview {
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
  /** The maximum length of the converted objects together. */
  readonly maxAnswerLength: number;
}

/** An error response before the body is read. */
export interface Refusal {
  readonly status: 403 | 413 | 415 | 429;
  readonly error: string;
}

/** Admits or refuses a request before a byte of its body is read. It waits for a seat. */
export type AdmitReview = (request: FastifyRequest, reply: FastifyReply) => Promise<AdmittedReview | Refusal>;

/** The maximum size of a small review. Almost every policy is shorter. Longer reviews are read one at a time, for all senders together. */
const smallBytes = 128 * 1024;
/** The maximum length of the answer to a small review. etcd stores at most 1.5 MiB for an object. */
const smallAnswerLength = 2 * 1024 * 1024;
const waiting = { maxQueuedPerFlow: 500, maxWaitMs: 10_000 };

export function createAdmission({ bodyLimitBytes, reviewTimeoutMs = 5_000, clients }: AdmissionOptions): AdmitReview {
  const small = createFairSeats({ seats: 8, seatsPerFlow: 4, ...waiting });
  const large = createFairSeats({ seats: 1, seatsPerFlow: 1, ...waiting });
  return async (request, reply) => {
    const { headers, raw, ip } = request;
    if (!isKnown(raw.socket, clients)) return { status: 403, error: 'this client may not request conversions' };
    if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) return { status: 415, error: 'the content type is not JSON' };
    // A body without a content-length may have the maximum length.
    const length = Number(headers['content-length'] ?? bodyLimitBytes);
    if (length > bodyLimitBytes) return { status: 413, error: tooLong(bodyLimitBytes) };
    const isSmall = length <= smallBytes;
    const ended = new AbortController();
    reply.raw.once('close', () => ended.abort());
    const releaseSeat = await (isSmall ? small : large).take(ip, ended.signal);
    if (releaseSeat === undefined) return { status: 429, error: 'too many reviews at a time' };
    // The seat is released when the answer was sent or the time is over, so that slow clients do not block others.
    const timer = setTimeout(() => {
      ended.abort();
      raw.socket.destroy();
    }, reviewTimeoutMs);
    const end = () => {
      clearTimeout(timer);
      releaseSeat();
    };
    reply.raw.once('finish', end).once('close', end);
    return { signal: ended.signal, maxAnswerLength: isSmall ? smallAnswerLength : 2 * bodyLimitBytes };
  };
}

/** The error for a body over the limit. */
export function tooLong(bodyLimitBytes: number): string {
  return `the review is longer than conversion.bodyLimitBytes (${bodyLimitBytes})`;
}

function isKnown(socket: FastifyRequest['raw']['socket'], clients: ConversionClients | undefined): boolean {
  if (clients === undefined || clients.names.length === 0) return true;
  const name: unknown = (socket as TLSSocket).getPeerCertificate().subject?.CN;
  return typeof name === 'string' && clients.names.includes(name);
}
