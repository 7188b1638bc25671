/** Events in memory as the API's ports, and the app around them. */
import type { TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { PushEvent } from '../../../src/core/model/push-event.ts';
import { buildOperationsApp } from '../../../src/service/operations/app.ts';
import { addDashboard, type DashboardOptions } from '../../../src/dashboard/add-dashboard.ts';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import type { ApiOptions } from '../../../src/service/api/add-api.ts';
import type { PolicyResult } from '../../../src/service/queue/event-log.ts';
import type { EventRecord, IgnoredRecord, PushRecord, PushState } from '../../../src/service/queue/event-record.ts';
import { createLogger } from '../../../src/service/telemetry/logger.ts';
import { createMetrics } from '../../../src/service/telemetry/metrics.ts';

export const eventTime = Date.parse('2026-03-01T12:00:00.000Z');

/** An event that was received so many seconds after noon; its policies have read its repository. */
export function recordOf(
  id: string,
  seconds: number,
  results: Record<string, PolicyResult['kind'] | undefined>,
  state: PushState = 'matched',
): PushRecord {
  const event: PushEvent = {
    id,
    receiver: 'prod',
    provider: 'harbor',
    repository: { registry: 'r.example.com', path: 'shop/web' },
    tag: '1.0.0',
    receivedAt: new Date(eventTime + seconds * 1_000).toISOString(),
  };
  const toResult = (kind: PolicyResult['kind']): PolicyResult => ({
    kind,
    reason: 'Updated',
    message: `${kind}!`,
    at: event.receivedAt,
    afterMs: 5,
  });
  const entries = Object.entries(results).map(([name, kind]): [string, PolicyResult | undefined] => [name, kind && toResult(kind)]);
  return { event, state, results: new Map(entries), readers: new Set(Object.keys(results)) };
}

/** Something that a receiver ignored, so many seconds after noon. */
export function ignoredOf(id: string, seconds: number, more: Partial<IgnoredRecord['event']> = {}): IgnoredRecord {
  const receivedAt = new Date(eventTime + seconds * 1_000).toISOString();
  const event = {
    id,
    receiver: 'prod',
    provider: 'harbor',
    receivedAt,
    reason: 'NoTag',
    message: 'pushed by digest',
    count: 1,
    ...more,
  } as const;
  return { event, state: 'ignored' };
}

export interface TestApi {
  readonly app: FastifyInstance;
  readonly stored: PushEvent[];
  readonly logged: string[];
}

/** The operations app with these records, newest first. */
export function startApi(
  t: Pick<TestContext, 'after'>,
  auth: OperationsAuth,
  records: readonly EventRecord[],
  ports: Partial<ApiOptions> = {},
  dashboard?: (app: FastifyInstance, logger: ApiOptions['logger']) => DashboardOptions,
): TestApi {
  const stored: PushEvent[] = [];
  const logged: string[] = [];
  let replays = 0;
  const api: ApiOptions = {
    auth,
    reader: {
      get: (id) => Promise.resolve(records.find(({ event }) => event.id === id)),
      async *list({ before }) {
        const known = records.findIndex(({ event }) => event.id === before?.id);
        // The position of no event is that of a time.
        const isAfter = ({ event }: EventRecord) => before === undefined || Date.parse(event.receivedAt) < before.at;
        yield await Promise.resolve(known === -1 ? records.filter(isAfter) : records.slice(known + 1));
      },
    },
    storePushes: (events) => Promise.resolve(void stored.push(...events)),
    noteFound: (found) => Promise.resolve(found),
    changedEvents: () => Promise.reject(new Error('nothing is remembered')),
    recordFeed: { subscribe: () => () => undefined },
    refusal: () => undefined,
    stale: () => [],
    installation: {
      running: async () => ({ processes: [] }),
      receivers: async () => [],
      deliveries: async () => new Map(),
      announcements: async () => [],
    },
    now: () => new Date(eventTime),
    version: '1.0.0',
    unique: () => String(++replays),
    aliases: new Map(),
    logger: createLogger('trace', { write: (line: string) => void logged.push(line) }),
    ...ports,
  };
  const app = buildOperationsApp({
    checks: () => [],
    metricsRegistry: createMetrics().registry,
    beforeScrape: () => undefined,
    api,
    trustedProxies: ['127.0.0.1'],
    dashboard: dashboard && ((scope, own) => addDashboard(scope, dashboard(own, api.logger))),
  });
  t.after(() => app.close());
  return { app, stored, logged };
}
