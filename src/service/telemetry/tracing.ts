/** The interface to traces. Without traces there is no `Tracing`, and OpenTelemetry is not loaded. */
import type { Attributes } from '@opentelemetry/api';

export type { Attributes } from '@opentelemetry/api';

/** The start of a span. */
export interface SpanStart {
  /** The name of the span, one of a few. Details are attributes. */
  readonly name: string;
  /** The kind of the span; absent for work within this process. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** The parent of the span, as a `traceparent` of W3C Trace Context; the current span unless given. */
  readonly parent?: string | undefined;
  /** A related span of another trace, as a `traceparent`; ignored if it is not valid. */
  readonly link?: string | undefined;
  /** When the span began, in ms since 1970; now unless given. */
  readonly startedAt?: number;
  readonly attributes?: Attributes;
}

/** A span while its work lasts. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Marks the span as failed although nothing is thrown. */
  fail(why: string): void;
  /** Discards the span, so that it is not exported. */
  forget(): void;
}

export interface Tracing {
  /** Runs the work in a span, which is the current one as long as the work lasts. An exception marks it as failed, except for a WaitError. */
  span<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Runs the work in a span within the current one. Without a current span, it runs the work alone. */
  step<T>(start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** Records a span that began at `startedAt` and has ended; without a `parent`, only within another span. */
  record(start: SpanStart & { readonly startedAt: number }, failure?: string): void;
  /** Adds an event to the current span, if there is one. */
  event(name: string, attributes: Attributes): void;
  /** The `traceparent` of the current span, to continue the trace elsewhere. */
  current(): string | undefined;
  /** The fields of a log line that identify the current span. */
  logFields(): { readonly trace_id?: string; readonly span_id?: string };
  /** Exports the remaining spans, within the deadline. */
  stop(deadlineMs: number): Promise<void>;
}
