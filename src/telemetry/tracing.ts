/** What spans are made with. Where traces are off there is no `Tracing`, and nothing of OpenTelemetry is loaded. */
import type { Attributes } from '@opentelemetry/api';

export type { Attributes } from '@opentelemetry/api';

/** A span as it begins. */
export interface SpanStart {
  /** One of a few: what differs from one to the next is an attribute. */
  readonly name: string;
  /** Work within this process unless given. */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** The span that it belongs to, as a `traceparent` of W3C Trace Context; the current one unless given. */
  readonly parent?: string | undefined;
  /** What it has to do with without belonging to it, as a `traceparent`; ignored where it is none. */
  readonly link?: string | undefined;
  /** When it began, in ms since 1970; now unless given. */
  readonly startedAt?: number;
  readonly attributes?: Attributes;
}

/** A span while its work lasts. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Marks it as failed although nothing is thrown. */
  fail(why: string): void;
  /** It is never told of. */
  forget(): void;
}

export interface Tracing {
  /** Runs the work in a span, which is the current one as long as it lasts. What is thrown marks it as failed; a wait is no failure. */
  span<T>(start: SpanStart, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** The same, but only within another span; outside of one, the work alone. */
  step<T>(start: SpanStart, work: () => Promise<T>): Promise<T>;
  /** Tells of something that is over and began at `startedAt`; where it has no `parent`, only within a span. */
  record(start: SpanStart & { readonly startedAt: number }, failure?: string): void;
  /** Something that happened in the current span; nothing outside of one. */
  event(name: string, attributes: Attributes): void;
  /** The `traceparent` of the current span, for those who go on with its work elsewhere. */
  current(): string | undefined;
  /** What a log line says of the current span. */
  logFields(): { readonly trace_id?: string; readonly span_id?: string };
  /** Exports what is left, as far as the time allows. */
  stop(deadlineMs: number): Promise<void>;
}
