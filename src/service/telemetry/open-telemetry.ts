import { createLogger, type Logger } from './logger.ts';
import { spanFields, type Tracing } from './tracing.ts';
import type { ExportNews, TracingOptions } from './open-tracing.ts';

/** The logger and traces of a process. */
export interface Telemetry {
  readonly logger: Logger;
  /** The traces; undefined if they are off. */
  readonly tracing: Tracing | undefined;
}

/** Opens the logger and traces. OpenTelemetry is loaded only if traces are on. */
export async function openTelemetry(
  level: string,
  traces: Pick<TracingOptions, 'endpoint' | 'headers' | 'sampleRatio'> | undefined,
  roles: ReadonlySet<string>,
): Promise<Telemetry> {
  if (traces === undefined) return { logger: createLogger(level), tracing: undefined };
  const { openTracing } = await import('./open-tracing.ts');
  const tracing = openTracing({ ...traces, roles: [...roles], onNews: (news) => logNews(news) });
  const logger = createLogger(level, undefined, spanFields);
  const logNews = logExports(logger, traces.endpoint);
  return { logger, tracing };
}

/** Logs failures of exports. Dropped spans are logged at warn only once, because a slow collector causes them again and again. */
function logExports(logger: Logger, endpoint: string): (news: ExportNews) => void {
  let isDropLogged = false;
  return (news) => {
    if (news.kind === 'working') logger.info({ endpoint }, 'traces are exported again');
    else if (news.kind === 'failing') logger.warn({ endpoint, why: news.why }, 'traces cannot be exported, and are lost until they can');
    else {
      logger[isDropLogged ? 'debug' : 'warn'](
        { endpoint, why: news.why },
        'traces are incomplete: spans come faster than the collector takes them',
      );
      isDropLogged = true;
    }
  };
}
