/** Loopback servers that checks ask: an endpoint, and the query API of a Prometheus. Both answer as the test says, and remember what they were asked. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One event that an endpoint was sent. */
export interface AskedEvent {
  readonly id: string;
  readonly isSigned: boolean;
  readonly data: {
    readonly check: string;
    readonly phase: string;
    readonly subject: { readonly name: string };
    readonly tag: string;
    readonly digest?: string;
    readonly changes: readonly object[];
  };
}

/** What a server answers: a status and a body, late if it has `afterMs`, nothing at all, or a broken connection. */
export type Reply = { readonly status: number; readonly body: string; readonly afterMs?: number } | 'silence' | 'reset';

export const verdict = (word: string, reason?: string): Reply => ({ status: 200, body: JSON.stringify({ verdict: word, reason }) });

async function listen(
  handle: (request: IncomingMessage, body: string) => Reply,
): Promise<{ readonly origin: string; stop(): Promise<void> }> {
  const reply = (response: ServerResponse, answer: Reply) => {
    if (answer === 'silence') return;
    if (answer === 'reset') return void response.destroy();
    const send = () => void response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    if (answer.afterMs === undefined) send();
    else setTimeout(send, answer.afterMs).unref();
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => reply(response, handle(request, Buffer.concat(chunks).toString('utf8'))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An endpoint; `answer` is asked for each event, in the order in which they come. */
export async function startEndpoint(key: string, answer: (event: AskedEvent, earlier: number) => Reply) {
  const events: AskedEvent[] = [];
  const server = await listen((request, body) => {
    const id = String(request.headers['webhook-id']);
    const signature = createHmac('sha256', key)
      .update(`${id}.${String(request.headers['webhook-timestamp'])}.${body}`)
      .digest('base64');
    const event: AskedEvent = {
      id,
      isSigned: request.headers['webhook-signature'] === `v1,${signature}`,
      data: (JSON.parse(body) as { data: AskedEvent['data'] }).data,
    };
    const earlier = events.filter((one) => one.id === id).length;
    events.push(event);
    return answer(event, earlier);
  });
  return { ...server, host: server.origin, url: `${server.origin}/verdicts`, events };
}

/** The query API; `answer` gives the texts of the numbers for a query, or another reply. */
export async function startPrometheus(answer: (query: string) => readonly string[] | Reply) {
  const queries: string[] = [];
  const server = await listen((request) => {
    const query = new URL(request.url ?? '', 'http://any').searchParams.get('query') ?? '';
    queries.push(query);
    const found = answer(query);
    if (!Array.isArray(found)) return found as Reply;
    const result = (found as readonly string[]).map((value) => ({ metric: {}, value: [1_700_000_000, value] }));
    return { status: 200, body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }) };
  });
  return { ...server, queries };
}
