/**
 * Spans of traces. Everything that the work of a span awaits finds it as the current one, so that no function passes it on. Without traces there is no span, and
 * OpenTelemetry is not loaded.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Attributes } from '@opentelemetry/api';

export type { Attributes } from '@opentelemetry/api';

/** The start of a span within another one. */
export interface SpanStart {
  /** The name of the span, one of a few. Details are attributes. */
  readonly name: string;
  /** The kind of the span; absent for work within this process. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
}

/** The start of the first span of a trace in this process. */
export interface RootSpan extends SpanStart {
  /** The parent of the span, as a `traceparent` of W3C Trace Context; a new trace begins unless it is given and valid. */
  readonly parent?: string | undefined;
  /** A related span of another trace, as a `traceparent`; ignored if it is not valid. */
  readonly link?: string | undefined;
  /** The change that the work follows; its span is the parent. */
  readonly follows?: TracedChange | undefined;
}

/** A change of an image and its trace. */
export interface TracedChange {
  readonly traceparent: string;
  /** When the change was made, in ms since 1970. */
  readonly at: number;
}

/** A span while its work lasts. */
export interface Span {
  /** The `traceparent` with which another process continues the trace. */
  readonly traceparent: string;
  /** Whether the work has ended. What it has left behind does not belong to the span. */
  readonly isOver: boolean;
  set(attributes: Attributes): void;
  event(name: string, attributes: Attributes): void;
  /** Marks the span as failed although nothing is thrown. */
  fail(why: string): void;
  /** Discards the span, so that it is not exported. */
  forget(): void;
  /** Runs the work in a span within this one. An exception marks it as failed, except for a WaitError. */
  step<T>(start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** Records a span within this one, which began at `startedAt` (in ms since 1970) and has ended. */
  record(start: SpanStart & { readonly startedAt: number }, failure?: string): void;
  /** Records a span beside this one, from the change that the work follows until now; nothing if the work follows no change. */
  recordFollowed(start: SpanStart, failure?: string): void;
}

/** What records the traces of a process. */
export interface Tracing {
  /** Runs the work in a span, which does not belong to the current one. An exception marks it as failed, except for a WaitError. */
  span<T>(start: RootSpan, work: (span: Span) => Promise<T>): Promise<T>;
  /** Exports the remaining spans, within the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

const spans = new AsyncLocalStorage<Span | undefined>();

/** The span of the current work; undefined if there is none, or if it has ended. */
export function currentSpan(): Span | undefined {
  const span = spans.getStore();
  return span?.isOver === false ? span : undefined;
}

/** Runs the work with this span as the current one. */
export function runInSpan<T>(span: Span, work: () => T): T {
  return spans.run(span, work);
}

/** Starts work that outlives the current span, such as a watch, and does not belong to it. */
export function outsideSpans<T>(work: () => T): T {
  return currentSpan() === undefined ? work() : spans.run(undefined, work);
}

/** The fields of a log line that identify the current span. */
export function spanFields(): { readonly trace_id?: string | undefined; readonly span_id?: string | undefined } {
  const [, traceId, spanId] = currentSpan()?.traceparent.split('-') ?? [];
  return traceId === undefined ? {} : { trace_id: traceId, span_id: spanId };
}
