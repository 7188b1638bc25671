import { pino, type DestinationStream } from 'pino';
import type { LogFields } from './log-fields.ts';
import type { LogLevel, LogMessage } from './log-messages.ts';

/** Writes only messages and fields that are in the lists. */
export type Logger = { readonly [L in LogLevel]: (fields: LogFields, message: LogMessage<L>) => void };

/** Fields whose values never reach a log, wherever they are nested one or two levels deep. */
const secretFields = ['authorization', 'cookie', 'password', 'token', 'secret', 'secrets', 'signature', 'x-hub-signature-256', 'auth'];

/** Errors of ioredis contain the failed command, and so the password of AUTH. */
const redisArguments = ['command.args', '*.command.args'];

/**
 * JSON lines: a constant message, everything else in fields. error = our bug, warn = degraded, info = something changed. `fields`: further fields of
 * each line, evaluated when it is written.
 */
export function createLogger(level: string, destination?: DestinationStream, fields?: () => object): Logger {
  const paths = [...secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`].map(quote)), ...redisArguments];
  const options = {
    level,
    base: { service: 'image-watcher' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: '[redacted]' },
    ...(fields !== undefined && { mixin: fields }),
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** fast-redact needs brackets around names with dashes. */
function quote(path: string): string {
  return path.includes('-') ? path.replace(/\.?([a-z0-9]+(?:-[a-z0-9]+)+)$/, '["$1"]') : path;
}
