import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

/** A load balancer that still sends leaves no gap as long as this. */
const quietMs = 250;
/** Nobody may keep us: after that, new connections are refused, which proxies answer by going to another replica. */
const longestMs = 5_000;

/**
 * Goes on answering until nobody has come for a moment: those in front hear of our end a little later than we do, and what is closed under a request is an
 * error for its sender. Everybody is told to come back on another connection.
 */
export async function drainListener(server: Pick<Server, 'on' | 'off' | 'prependListener'>, longest = longestMs): Promise<void> {
  const deadline = performance.now() + longest;
  let lastSeen = performance.now();
  const note = () => (lastSeen = performance.now());
  const sayGoodbye = (_request: IncomingMessage, response: ServerResponse) => {
    note();
    response.setHeader('connection', 'close');
  };
  server.on('connection', note);
  server.prependListener('request', sayGoodbye);
  for (;;) {
    const now = performance.now();
    const restMs = Math.min(lastSeen + quietMs, deadline) - now;
    if (restMs <= 0) break;
    await delay(restMs);
    // After a stall timers come first, and who came meanwhile has not been seen yet.
    for (let turns = 0; turns < 2; turns++) await turn();
  }
  server.off('connection', note);
}
