/** A collector of traces in the test's own process: it keeps what it gets. https://opentelemetry.io/docs/specs/otlp/#otlphttp */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { firstBytes, firstInteger, firstNumber, messagesOf, readMessage, type Message } from './protobuf.ts';

export type Value = string | number | boolean | readonly Value[];
export type Values = Readonly<Record<string, Value>>;

/** A span as it was exported. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty of the first of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  /** ms since 1970. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Values;
  readonly events: readonly { readonly name: string; readonly attributes: Values }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Why it failed; undefined where it did not. */
  readonly failure?: string;
  /** Of the process. */
  readonly resource: Values;
}

export interface Collector {
  /** The base that programs are configured with. */
  readonly url: string;
  spans(): readonly CollectedSpan[];
  /** Everything that arrived, as it was on the wire. */
  readonly received: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[];
  /** How it treats exports from now on: takes them, refuses them with 400, or takes them in and never answers. */
  behave(as: 'well' | 'refusing' | 'hanging'): void;
  stop(): Promise<void>;
}

/** Starts one on a free port of the loopback interface. */
export async function startCollector(): Promise<Collector> {
  const received: Collector['received'] = [];
  let behaviour: Parameters<Collector['behave']>[0] = 'well';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await buffer(request) });
    if (behaviour === 'hanging') return;
    response.writeHead(behaviour === 'well' ? 200 : 400, { 'content-type': 'application/x-protobuf' }).end();
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    spans: () => received.flatMap(({ body }) => readSpans(body)),
    behave(as) {
      behaviour = as;
    },
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const failed = 2;

/** ExportTraceServiceRequest: https://github.com/open-telemetry/opentelemetry-proto */
function readSpans(body: Buffer): CollectedSpan[] {
  return messagesOf(readMessage(body), 1).flatMap((resourceSpans) => {
    const resource = Object.assign({}, ...messagesOf(resourceSpans, 1).map((one) => readValues(one, 1))) as Values;
    return messagesOf(resourceSpans, 2).flatMap((scope) => messagesOf(scope, 2).map((span) => readSpan(span, resource)));
  });
}

function readSpan(span: Message, resource: Values): CollectedSpan {
  const [status] = messagesOf(span, 15);
  const hasFailed = status !== undefined && firstNumber(status, 3) === failed;
  return {
    ...readIds(span),
    parentId: firstBytes(span, 4).toString('hex'),
    name: firstBytes(span, 5).toString(),
    kind: kinds[firstNumber(span, 6)] ?? 'internal',
    start: readTime(span, 7),
    end: readTime(span, 8),
    attributes: readValues(span, 9),
    events: messagesOf(span, 11).map((event) => ({ name: firstBytes(event, 2).toString(), attributes: readValues(event, 3) })),
    links: messagesOf(span, 13).map(readIds),
    ...(hasFailed && { failure: firstBytes(status, 2).toString() }),
    resource,
  };
}

/** A time in ns, as ms. A number of this size holds only each 256th ns, so that the division would not give back the ms that was sent. */
function readTime(message: Message, field: number): number {
  return Number(firstInteger(message, field) / 1000n) / 1000;
}

function readIds(message: Message): { traceId: string; spanId: string } {
  return { traceId: firstBytes(message, 1).toString('hex'), spanId: firstBytes(message, 2).toString('hex') };
}

function readValues(message: Message, field: number): Values {
  return Object.fromEntries(
    messagesOf(message, field).map((pair) => [firstBytes(pair, 1).toString(), messagesOf(pair, 2).map(readValue)[0] ?? '']),
  );
}

/** AnyValue: a string, a boolean, an integer, a double, a list. */
function readValue(value: Message): Value {
  if (value.has(2)) return firstNumber(value, 2) === 1;
  if (value.has(3)) return firstNumber(value, 3);
  if (value.has(4)) return firstBytes(value, 4).readDoubleLE();
  if (value.has(5)) return messagesOf(value, 5).flatMap((list) => messagesOf(list, 1).map(readValue));
  return firstBytes(value, 1).toString();
}
