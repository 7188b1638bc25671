import type { AddressInfo } from 'node:net';
import type { Settings } from '../config.ts';
import type { Check } from '../telemetry/readiness.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';

/** What every role is made of. */
export interface Foundation {
  readonly settings: Settings;
  readonly aliases: ReadonlyMap<string, string>;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** undefined: traces are off. */
  readonly tracing?: Tracing | undefined;
}

/** A part of the service with a life. */
export interface Part {
  readonly checks: () => readonly Check[];
  /** Brings gauges up to date before a scrape. */
  readonly measure?: () => void;
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
}

/** What is needed of a Fastify app, plain or over TLS. */
interface Listener {
  readonly server: { closeIdleConnections(): void; closeAllConnections(): void };
  addresses(): readonly (string | AddressInfo)[];
  close(): PromiseLike<unknown>;
}

/**
 * Ends a listener: answers what it has begun to read, within a time that must be longer than any answer takes; a sender that is not done by then does not hold
 * up the end. A kept-alive connection ends with the answer that it waits for.
 */
export async function closeListener(app: Listener, closeMs = 2_000): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 20);
  const late = setTimeout(() => app.server.closeAllConnections(), closeMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** `http://127.0.0.1:8080` of a listening app. */
export function addressOf(app: Listener, scheme: 'http' | 'https' = 'http'): string {
  const address = app.addresses()[0];
  if (address === undefined || typeof address === 'string') return 'not listening';
  return `${scheme}://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
