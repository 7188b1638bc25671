/** Traces of the test's own process, and a collector that keeps what they export. */
import type { TestContext } from 'node:test';
import { type ExportNews, openTracing, type TracingOptions } from '../../src/service/telemetry/open-tracing.ts';
import type { Tracing } from '../../src/service/telemetry/tracing.ts';
import { startCollector, type CollectedSpan, type Collector } from './otlp-collector.ts';

export interface Traces {
  readonly tracing: Tracing;
  readonly collector: Collector;
  readonly news: readonly ExportNews[];
  /** Ends the traces; returns all spans in the order of their ends. */
  finish(): Promise<readonly CollectedSpan[]>;
}

/** Opens the traces for the duration of a test. */
export async function openTraces(t: TestContext, options: Partial<TracingOptions> = {}): Promise<Traces> {
  const collector = await startCollector();
  t.after(() => collector.stop());
  const news: ExportNews[] = [];
  const tracing = openTracing({
    endpoint: collector.url,
    headers: () => ({}),
    sampleRatio: 1,
    roles: ['work'],
    // An export that takes longer is lost, and the machine may be overloaded.
    exportTimeoutMs: 120_000,
    onNews: (one) => void news.push(one),
    ...options,
  });
  const finish = async () => {
    await tracing.stop(120_000);
    return collector.spans();
  };
  return { tracing, collector, news, finish };
}
