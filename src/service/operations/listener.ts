/** Opens listeners, and closes them without failing the requests that still arrive. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

/** The time without a request after which load balancers are assumed to use other replicas, in ms. */
const quietMs = 250;
/** The time after which new connections are refused even if requests still arrive. Proxies then try another replica. */
const longestMs = 5_000;

/**
 * Answers requests until none has arrived for a moment. Load balancers learn later than this process that it stops, and a connection that is closed during a
 * request is an error for its sender. Responses ask clients to use another connection next time.
 */
export async function drainListener(server: Pick<Server, 'on' | 'off' | 'prependListener'>, longest = longestMs): Promise<void> {
  const deadline = performance.now() + longest;
  let lastSeen = performance.now();
  const note = () => (lastSeen = performance.now());
  const closeAfterResponse = (_request: IncomingMessage, response: ServerResponse) => {
    note();
    response.setHeader('connection', 'close');
  };
  server.on('connection', note);
  server.prependListener('request', closeAfterResponse);
  for (;;) {
    const now = performance.now();
    const restMs = Math.min(lastSeen + quietMs, deadline) - now;
    if (restMs <= 0) break;
    await delay(restMs);
    // After a stall of the event loop, timers run before the connections that arrived during the stall are seen.
    for (let turns = 0; turns < 2; turns++) await turn();
  }
  server.off('connection', note);
}

/** The address at which a listener is opened. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Opens the listener. If its address cannot be used, rejects with the error that `toError` makes of the wrong part and the advice. */
export async function openListener(
  app: { listen(address: ListenAddress): Promise<unknown> },
  { host, port }: ListenAddress,
  toError: (part: keyof ListenAddress, message: string) => Error,
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const [part, message] = describeListenError(error, host, port) ?? [];
    if (part === undefined || message === undefined) throw error;
    throw toError(part, message);
  }
}

function describeListenError(error: unknown, host: string, port: number): [part: keyof ListenAddress, message: string] | undefined {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return ['port', `another process already listens on port ${port} of ${host}: set another port, or end that process`];
    case 'EACCES':
      return ['port', `this user may not open port ${port}: set a port of 1024 or higher`];
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ['host', `"${host}" is no address of this machine: set one of its own, or 0.0.0.0 for all of them`];
    default:
      return undefined;
  }
}

/** The parts of a Fastify app that a listener needs, plain or over TLS. */
interface Listener {
  readonly server: { closeIdleConnections(): void; closeAllConnections(): void };
  addresses(): readonly (string | AddressInfo)[];
  close(): PromiseLike<unknown>;
}

/**
 * Closes a listener. Requests in progress are answered within `closeMs`, which must be longer than any answer takes; slower senders are cut off. Kept-alive
 * connections are closed after the current answer.
 */
export async function closeListener(app: Listener, closeMs = 2_000): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 20);
  const late = setTimeout(() => app.server.closeAllConnections(), closeMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** The address of a listening app: `http://127.0.0.1:8080`. */
export function addressOf(app: Listener, scheme: 'http' | 'https' = 'http'): string {
  const address = app.addresses()[0];
  if (address === undefined || typeof address === 'string') return 'not listening';
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
