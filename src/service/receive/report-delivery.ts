/**
 * Reports how each delivery ended, and why pushes were ignored: in metrics, in the log, and in the records that `image-watcher events` shows. The sender is answered by the
 * response (`toResponseBody` in `answer-delivery.ts`). Metric labels are bounded, and senders cannot choose their values.
 */
import type { IgnoredPush } from '../../core/model/push-event.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Answer, Receiver } from './answer-delivery.ts';

export interface ReportOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Records the ignored parts of an authentic delivery (`queue/ignored-log.ts`). Returns before they are written, and never throws. */
  readonly recordIgnored: (receiver: Receiver, ignored: readonly IgnoredPush[]) => void;
  /** Notes the status with which a delivery was answered (`queue/delivery-times.ts`). Returns before it is written, and never throws. */
  readonly noteAnswer?: (receiver: Receiver, status: number) => void;
}

export interface Reporter {
  decided(receiver: Receiver, answer: Answer, requestId: string): void;
  answered(receiver: Receiver, status: number, seconds: number): void;
}

/** The metric label of a refused delivery, by status. */
const rejections: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  413: 'too-large',
  429: 'too-many',
  503: 'unavailable',
};

/** Creates the reporter of a listener, which remembers what it has logged. */
export function createReporter({ logger, metrics, recordIgnored, noteAnswer }: ReportOptions): Reporter {
  const lastProblem = new Map<string, string>();
  const refusals = new Set<string>();

  /** Logs a problem of a misconfigured sender, which repeats it, as a warning once until the problem changes. */
  const reportMalformed = (why: string, receiver: Receiver, requestId: string) => {
    const level = lastProblem.get(receiver.name) === why ? 'debug' : 'warn';
    lastProblem.set(receiver.name, why);
    metrics.malformed.inc({ receiver: receiver.name, provider: receiver.provider.id });
    logger[level]({ receiver: receiver.name, provider: receiver.provider.id, why, requestId }, 'delivery not understood');
  };
  /** Logs why a request was refused, which the response does not contain. Each reason is logged once, because clients may repeat a request for ever. */
  const reportRefusal = (why: string, receiver: Receiver) => {
    const level = refusals.has(`${receiver.name} ${why}`) ? 'debug' : 'warn';
    refusals.add(`${receiver.name} ${why}`);
    logger[level]({ receiver: receiver.name, provider: receiver.provider.id, why }, 'delivery not authentic');
  };

  return {
    decided(receiver, answer, requestId) {
      const labels = { receiver: receiver.name, provider: receiver.provider.id };
      if (answer.status === 401) {
        reportRefusal(answer.why, receiver);
        if (answer.claim !== undefined) metrics.refusedTokens.inc({ ...labels, claim: answer.claim });
      }
      if (answer.status === 413 || answer.status === 503) logger.warn({ ...labels, why: answer.why }, 'delivery refused');
      if (!('accepted' in answer)) return;
      metrics.pushes.inc({ ...labels, result: 'accepted' }, answer.accepted.length);
      metrics.pushes.inc({ ...labels, result: 'ignored' }, answer.ignored.length);
      for (const { code = 'OtherEvent', reason: why, repository, tag } of answer.ignored) {
        metrics.ignoredPushes.inc({ ...labels, reason: code });
        logger.debug({ ...labels, reason: code, why, repository, tag }, 'push ignored');
      }
      for (const { id, repository, tag, digest } of answer.accepted) {
        logger.debug({ ...labels, event: id, registry: repository.registry, repository: repository.path, tag, digest }, 'push accepted');
      }
      if (answer.status === 200 && answer.malformed !== undefined) reportMalformed(answer.malformed, receiver, requestId);
      if (answer.ignored.length > 0) recordIgnored(receiver, answer.ignored);
    },
    answered(receiver, status, seconds) {
      noteAnswer?.(receiver, status);
      const labels = { receiver: receiver.name, provider: receiver.provider.id };
      metrics.deliveries.inc({ ...labels, status: String(status) });
      metrics.deliverySeconds.observe(labels, seconds);
      if (status >= 400)
        metrics.rejectedDeliveries.inc({ ...labels, kind: rejections[status] ?? (status < 500 ? 'bad-request' : 'internal') });
    },
  };
}
