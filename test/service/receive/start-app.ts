/** The real Fastify app for one receiver, without a port; requests come by `inject`. */
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { IgnoredPush, PushEvent } from '../../../src/core/model/push-event.ts';
import type { ScanEvent } from '../../../src/core/model/scan-event.ts';
import { buildReceiveApp, type ReceiveOptions } from '../../../src/service/receive/app.ts';
import type { Receiver } from '../../../src/service/receive/answer-delivery.ts';
import type { ListenLimits } from '../../../src/service/receive/request-limits.ts';
import type { AddToCount } from '../../../src/service/receive/rate-limit.ts';
import { harbor } from '../../../src/service/receive/providers/harbor.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../../src/service/telemetry/metrics.ts';

export interface TestApp {
  readonly app: FastifyInstance;
  /** What was stored so far. */
  readonly stored: PushEvent[];
  /** The scans that pushes may have waited for. */
  readonly scans: ScanEvent[];
  /** The scans whose reports are there. */
  readonly reports: ScanEvent[];
  /** What was recorded as ignored so far. */
  readonly ignored: IgnoredPush[];
  /** Every line that was logged, at any level. */
  readonly logged: string[];
  readonly metrics: Metrics;
}

/** The defaults of the configuration. */
export const limits: ListenLimits = {
  bodyLimitBytes: 1_048_576,
  maxHeaderBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  keepAliveTimeoutMs: 72_000,
  maxConnections: 1_000,
};

/** Counts as Redis would, in memory. */
export function createCounts(): AddToCount {
  const sums = new Map<string, number>();
  return (receiver, window, count) => {
    const key = `${receiver} ${window}`;
    const sum = (sums.get(key) ?? 0) + count;
    sums.set(key, sum);
    return Promise.resolve(sum);
  };
}

/** Builds the app; it is closed when the test ends. */
export async function startApp(
  t: Pick<TestContext, 'after'>,
  receiver: Partial<Receiver> = {},
  options: Partial<ReceiveOptions> = {},
): Promise<TestApp> {
  const stored: PushEvent[] = [];
  const ignored: IgnoredPush[] = [];
  const scans: ScanEvent[] = [];
  const reports: ScanEvent[] = [];
  const logged: string[] = [];
  const metrics = createMetrics();
  const app = await buildReceiveApp({
    receivers: [{ name: 'prod', provider: harbor, unauthenticated: false, secrets: () => ['s3cret'], ...receiver }],
    limits,
    requestsPerMinute: 100_000,
    addToCount: createCounts(),
    confirmWithinMs: 2_000,
    aliases: new Map(),
    storePushes: async (events) => {
      stored.push(...events);
      return events;
    },
    endScan: async (scan) => void scans.push(scan),
    storeScans: async (found) => void reports.push(...found),
    recordIgnored: (_receiver, parts) => void ignored.push(...parts),
    refusal: () => undefined,
    now: () => new Date('2026-03-01T12:00:00.000Z'),
    logger: createLogger('trace', { write: (line: string) => void logged.push(line) }),
    metrics,
    ...options,
  });
  t.after(() => app.close());
  return { app, stored, scans, reports, ignored, logged, metrics };
}
