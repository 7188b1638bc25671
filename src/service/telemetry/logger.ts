import { pino, type DestinationStream } from 'pino';
import { defined } from '../../core/model/defined.ts';
import { escapeHidden } from '../../core/model/hidden-text.ts';
import type { LogFields } from './log-fields.ts';
import type { LogLevel, LogMessage } from './log-messages.ts';
import { redact } from './redact.ts';

/** A logger that accepts only the listed messages and fields. */
export type Logger = { readonly [L in LogLevel]: (fields: LogFields, message: LogMessage<L>) => void };

/**
 * Creates a logger of JSON lines: a constant message, everything else in fields. error = our bug, warn = degraded, info = something changed. `fields`: further
 * fields of each line, evaluated when it is written.
 */
export function createLogger(level: string, destination?: DestinationStream, fields?: () => object): Logger {
  const options = {
    level,
    base: { service: 'image-watcher' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: redact },
    // The serializer changes nothing, because errors are plain objects by then.
    serializers: { err: (error: object) => error },
    // Whoever reads the log in a terminal sees texts of registries and tenants.
    hooks: { streamWrite: escapeHidden },
    ...defined({ mixin: fields }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
