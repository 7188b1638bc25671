import { createLogger, type Logger } from './logger.ts';
import type { Tracing } from './tracing.ts';
import type { ExportNews } from './open-tracing.ts';

/** Where traces go. */
interface Traces {
  readonly endpoint: string;
  readonly sampleRatio: number;
  readonly headers: () => Readonly<Record<string, string>>;
}

/** What the process tells of itself, besides metrics. */
export interface Telemetry {
  readonly logger: Logger;
  /** undefined: traces are off. */
  readonly tracing: Tracing | undefined;
}

/** Opens log and traces. What traces are made with is loaded only where somebody wants them. */
export async function openTelemetry(level: string, traces: Traces | undefined, roles: ReadonlySet<string>): Promise<Telemetry> {
  if (traces === undefined) return { logger: createLogger(level), tracing: undefined };
  const { openTracing } = await import('./open-tracing.ts');
  const tracing = openTracing({ ...traces, roles: [...roles], onNews: (news) => tell(news) });
  const logger = createLogger(level, undefined, tracing.logFields);
  const tell = createTeller(logger, traces.endpoint);
  return { logger, tracing };
}

/** A collector that is too slow drops spans again and again: told once. */
function createTeller(logger: Logger, endpoint: string): (news: ExportNews) => void {
  let dropsTold = false;
  return (news) => {
    if (news.kind === 'working') logger.info({ endpoint }, 'traces are exported again');
    else if (news.kind === 'failing') logger.warn({ endpoint, why: news.why }, 'traces cannot be exported, and are lost until they can');
    else {
      logger[dropsTold ? 'debug' : 'warn'](
        { endpoint, why: news.why },
        'traces are incomplete: spans come faster than the collector takes them',
      );
      dropsTold = true;
    }
  };
}
