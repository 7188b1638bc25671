import { pino, stdSerializers, type DestinationStream } from 'pino';
import { defined } from '../../core/model/defined.ts';
import { escapeHidden } from '../../core/model/hidden-text.ts';
import type { LogFields } from './log-fields.ts';
import type { LogLevel, LogMessage } from './log-messages.ts';

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

/** Fields whose values never reach a log. Errors of ioredis contain the failed command with its `args`, and so the password of AUTH. */
const secretFields = new Set('authorization cookie password token secret secrets signature x-hub-signature-256 auth args'.split(' '));
/** How deep secrets are searched below the fields of a line. An error of a Cluster contains those of its nodes, and these contain their commands. */
const maxDepth = 4;

/**
 * Replaces secrets in the fields of a log line, and up to four levels below. Errors become objects. Pino's own `redact` would copy each line for each of its
 * paths, which costs several times as much as the rest of the line.
 */
function redact(fields: object, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, secretFields.has(name) ? '[redacted]' : redactValue(value, depth)]),
  );
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === maxDepth) return value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  if (value instanceof Error) return redact(stdSerializers.err(value), depth + 1);
  return 'toJSON' in value ? value : redact(value, depth + 1);
}
