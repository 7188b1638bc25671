/** Connects the dashboard to the API in its own process, or in another one. */
import type { FastifyInstance } from 'fastify';
import type { Turns } from '../core/async/turns.ts';
import { defined } from '../core/model/defined.ts';
import type { ApiTransport } from './api-client.ts';

/** The timeout of a response; of a stream, only of its beginning. */
const timeoutMs = 15_000;
/** The process with the API spends two to three times as much on a reading as the one that writes the page (`bench tabs`, 2026-11-30). */
const costsOver = 3.5;

/** Connects to the API of this process without a socket. `peer` is the address of the browser or proxy. */
export function connectWithin(app: FastifyInstance, turns: Pick<Turns, 'next'>): ApiTransport {
  return {
    costs: 1,
    async send({ method, path, headers, body, peer }) {
      const answer = await app.inject({
        method,
        url: `/api/v1${path}`,
        headers,
        remoteAddress: peer,
        ...defined({ payload: body }),
      });
      // A page reads several answers. Between two of them, other work has its turn.
      await turns.next();
      return { status: answer.statusCode, text: answer.body };
    },
    async stream({ path, headers, peer }, signal) {
      const answer = await app.inject({ url: `/api/v1${path}`, headers, remoteAddress: peer, payloadAsStream: true });
      // The response is destroyed, because a signal for inject would only end the reading here.
      const { res } = answer.raw;
      if (signal.aborted) res.destroy();
      else signal.addEventListener('abort', () => res.destroy(), { once: true });
      return { status: answer.statusCode, body: answer.stream().setEncoding('utf8') };
    },
  };
}

/** Connects to the API at an address such as https://image-watcher-work:9090. */
export function connectOver(address: URL, fetchFrom: typeof fetch): ApiTransport {
  const ask = (path: string, init: RequestInit) => fetchFrom(new URL(`/api/v1${path}`, address), { ...init, redirect: 'error' });
  return {
    costs: costsOver,
    async send({ method, path, headers, body }) {
      const sent = { method, headers, signal: AbortSignal.timeout(timeoutMs), ...defined({ body }) };
      const answer = await ask(path, sent);
      return { status: answer.status, text: await answer.text() };
    },
    async stream({ path, headers }, signal) {
      const answer = await ask(path, { headers, signal });
      return { status: answer.status, body: (answer.body ?? new Blob([]).stream()).pipeThrough(new TextDecoderStream()) };
    },
  };
}
