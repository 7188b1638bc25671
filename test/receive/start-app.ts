/** The real Fastify app for one receiver, without a port; requests come by `inject`. */
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { PushEvent } from '../../src/core/push-event.ts';
import { buildReceiveApp, type ReceiveOptions } from '../../src/receive/app.ts';
import type { Receiver } from '../../src/receive/answer-delivery.ts';
import { harbor } from '../../src/receive/providers/harbor.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

export interface TestApp {
  readonly app: FastifyInstance;
  /** What was stored so far. */
  readonly stored: PushEvent[];
  /** Every line that was logged, at any level. */
  readonly logged: string[];
  readonly metrics: Metrics;
}

/** Builds the app; it is closed when the test ends. */
export async function startApp(
  t: Pick<TestContext, 'after'>,
  receiver: Partial<Receiver> = {},
  options: Partial<ReceiveOptions> = {},
): Promise<TestApp> {
  const stored: PushEvent[] = [];
  const logged: string[] = [];
  const metrics = createMetrics();
  const app = await buildReceiveApp({
    receivers: [{ name: 'prod', provider: harbor, unauthenticated: false, secrets: () => ['s3cret'], ...receiver }],
    bodyLimitBytes: 1_048_576,
    requestsPerMinute: 100_000,
    aliases: new Map(),
    storePushes: async (events) => void stored.push(...events),
    refusal: () => undefined,
    now: () => new Date('2026-03-01T12:00:00.000Z'),
    logger: createLogger('trace', { write: (line: string) => void logged.push(line) }),
    metrics,
    ...options,
  });
  t.after(() => app.close());
  return { app, stored, logged, metrics };
}
