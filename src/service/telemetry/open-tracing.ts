/** Creates spans with OpenTelemetry's SDK, exported in batches over OTLP/HTTP (protobuf). It is loaded only if traces are on. */
import { hostname } from 'node:os';
import {
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span as OpenTelemetrySpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { within } from '../../core/async/deadline.ts';
import { defined } from '../../core/model/defined.ts';
import { describeError, PermanentError, WaitError } from '../../core/model/errors.ts';
import { runInSpan, type RootSpan, type Span, type SpanStart, type TracedChange, type Tracing } from './tracing.ts';

/** The collector of spans, the share of sampled traces, and the callback for failures. */
export interface TracingOptions {
  /** The base URL of a collector's OTLP/HTTP receiver: `http://collector:4318`. */
  readonly endpoint: string;
  readonly headers: () => Readonly<Record<string, string>>;
  /** The share of traces that is kept, 0 to 1; a trace is sampled as a whole or not at all. */
  readonly sampleRatio: number;
  readonly roles: readonly string[];
  readonly onNews: (news: ExportNews) => void;
  /** How long a collector may take for a batch, in ms; 10 s unless given. */
  readonly exportTimeoutMs?: number;
}

/** The number of spans that wait for export, which limits the memory while a collector hangs. Further spans are dropped, so that no push waits. */
const maxQueueSize = 4_096;
const pauseMs = 2_000;
const maxTextLength = 1_024;

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };

/** Opens the traces, without connecting before the first export. */
export function openTracing(options: TracingOptions): Tracing {
  const provider = createProvider(options);
  const tracer = provider.getTracer('image-watcher');
  return {
    span: (start, work) =>
      runSpan(tracer, { start, around: contextOf(start.follows?.traceparent ?? start.parent), follows: start.follows }, work),
    async stop(deadlineMs) {
      const exported = provider.shutdown().catch((error: unknown) => options.onNews({ kind: 'failing', why: describeError(error) }));
      await within(deadlineMs, exported);
    },
  };
}

/** The beginning of a span: around it is the context of its parent. */
interface Beginning {
  readonly start: RootSpan;
  readonly around: Context;
  readonly follows: TracedChange | undefined;
}

async function runSpan<T>(tracer: Tracer, beginning: Beginning, work: (span: Span) => Promise<T>): Promise<T> {
  const inner = startSpan(tracer, beginning.start, beginning.around);
  const state = { isOver: false, isForgotten: false };
  const span = createSpan(tracer, inner, beginning, state);
  try {
    return await runInSpan(span, () => work(span));
  } catch (error) {
    recordError(inner, error);
    throw error;
  } finally {
    state.isOver = true;
    // A span that is not ended is not exported.
    if (!state.isForgotten) inner.end();
  }
}

function createSpan(
  tracer: Tracer,
  inner: OpenTelemetrySpan,
  { around, follows }: Beginning,
  state: { readonly isOver: boolean; isForgotten: boolean },
): Span {
  const inside = trace.setSpan(around, inner);
  const record = (start: Parameters<Span['record']>[0], parent: Context, failure: string | undefined) => {
    const recorded = startSpan(tracer, start, parent);
    if (failure !== undefined) fail(recorded, failure);
    recorded.end();
  };
  return {
    get isOver() {
      return state.isOver;
    },
    get traceparent() {
      return formatTraceParent(inner);
    },
    set: (attributes) => void inner.setAttributes(attributes),
    event: (name, attributes) => void inner.addEvent(name, attributes),
    fail: (why) => fail(inner, why),
    forget: () => void (state.isForgotten = true),
    step: (start, work) => runSpan(tracer, { start, around: inside, follows }, work),
    record: (start, failure) => record(start, inside, failure),
    recordFollowed(start, failure) {
      if (follows !== undefined) record({ ...start, startedAt: follows.at }, contextOf(follows.traceparent), failure);
    },
  };
}

function createProvider({ endpoint, headers, sampleRatio, roles, onNews, exportTimeoutMs = 10_000 }: TracingOptions): TracerProvider {
  // Only this logger receives the SDK's report of dropped spans; its other messages are ignored.
  const ignored = { error: ignore, info: ignore, debug: ignore, verbose: ignore };
  const warn = (message: string) => message.startsWith('Dropped') && onNews({ kind: 'dropped', why: message });
  diag.setLogger({ ...ignored, warn }, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: () => Promise.resolve({ ...headers() }),
    timeoutMillis: exportTimeoutMs,
  });
  const own = { 'service.name': 'image-watcher', 'service.instance.id': hostname(), 'image_watcher.roles': [...roles] };
  // The variables OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence.
  const resource = defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
  return new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanLimits: { attributeValueLengthLimit: maxTextLength },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportFailures(exporter, onNews),
        maxQueueSize,
        scheduledDelayMillis: pauseMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
}

function startSpan(
  tracer: Tracer,
  { name, kind, link, startedAt, attributes }: Pick<RootSpan, 'link'> & SpanStart & { readonly startedAt?: number },
  around: Context,
): OpenTelemetrySpan {
  const linked = link === undefined ? null : parseTraceParent(link);
  return tracer.startSpan(
    name,
    {
      ...(kind !== undefined && { kind: kinds[kind] }),
      ...defined({ attributes }),
      ...(startedAt !== undefined && { startTime: new Date(startedAt) }),
      ...(linked !== null && { links: [{ context: linked }] }),
    },
    around,
  );
}

function recordError(span: OpenTelemetrySpan, error: unknown): void {
  const message = describeError(error);
  if (error instanceof WaitError) {
    span.addEvent('wait', {
      'image_watcher.reason': error.reason,
      'image_watcher.until': error.until.toISOString(),
      'image_watcher.message': message,
    });
    return;
  }
  span.setAttribute('error.type', error instanceof PermanentError ? error.reason : error instanceof Error ? error.name : 'unknown');
  fail(span, message);
}

function fail(span: OpenTelemetrySpan, why: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: why.slice(0, maxTextLength) });
}

/** The context of a parent span. Without a valid `traceparent`, a new trace begins. */
function contextOf(parent: string | undefined): Context {
  const remote = parent === undefined ? null : parseTraceParent(parent);
  return remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
}

function formatTraceParent(span: OpenTelemetrySpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`;
}

function ignore(): void {
  // Errors are ignored here, because the exporter reports them, or they are not relevant.
}

/** News of the export. failing: batches are lost from now on · working: they are exported again · dropped: spans are created faster than they are exported. */
export type ExportNews = { readonly kind: 'failing' | 'dropped'; readonly why: string } | { readonly kind: 'working' };

/** Wraps an exporter so that it reports when its collector fails and when it recovers, but not for every batch. */
function reportFailures(exporter: SpanExporter, onNews: (news: ExportNews) => void): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS;
        if (hasFailed && !isFailing) onNews({ kind: 'failing', why: describeError(result.error ?? 'no reason given') });
        if (!hasFailed && isFailing) onNews({ kind: 'working' });
        isFailing = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
