import type { Attributes, SpanStart, Tracing } from '../../../src/service/telemetry/tracing.ts';

/** A span or an event as it was told, in the order of their beginnings. */
export interface Told {
  readonly name: string;
  readonly attributes: Attributes;
  readonly start?: SpanStart;
  failure?: string;
  isForgotten?: true;
}

/** Traces that are kept as a list; `current` is the traceparent of every span. */
export function fakeTracing(current = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'): { tracing: Tracing; told: Told[] } {
  const told: Told[] = [];
  let depth = 0;
  const tracing: Tracing = {
    async span(start, work) {
      const one: Told = { name: start.name, attributes: { ...start.attributes }, start };
      told.push(one);
      depth++;
      try {
        return await work({
          set: (attributes) => void Object.assign(one.attributes, attributes),
          fail: (why) => void (one.failure = why),
          forget: () => void (one.isForgotten = true),
        });
      } finally {
        depth--;
      }
    },
    step: (start, work) => (depth === 0 ? work() : tracing.span(start, work)),
    record(start, failure) {
      if (depth > 0 || start.parent !== undefined)
        told.push({ name: start.name, attributes: { ...start.attributes }, start, ...(failure !== undefined && { failure }) });
    },
    event: (name, attributes) => void (depth > 0 && told.push({ name, attributes })),
    current: () => (depth > 0 ? current : undefined),
    logFields: () => ({}),
    stop: () => Promise.resolve(),
  };
  return { tracing, told };
}
