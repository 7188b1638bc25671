import { pino, type DestinationStream } from 'pino';
import type { LogFields } from './log-fields.ts';
import type { LogLevel, LogMessage } from './log-messages.ts';
import { redact } from './redact.ts';

/** Writes only messages and fields that are in the lists. */
export type Logger = { readonly [L in LogLevel]: (fields: LogFields, message: LogMessage<L>) => void };

/**
 * JSON lines: a constant message, everything else in fields. error = our bug, warn = degraded, info = something changed. `fields`: further fields of
 * each line, evaluated when it is written.
 */
export function createLogger(level: string, destination?: DestinationStream, fields?: () => object): Logger {
  const options = {
    level,
    base: { service: 'image-watcher' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: redact },
    // They are objects by then.
    serializers: { err: (error: object) => error },
    ...(fields !== undefined && { mixin: fields }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
