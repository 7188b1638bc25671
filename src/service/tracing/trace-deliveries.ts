import type { PushQueue } from '../queue/producer.ts';
import type { StorePushes } from '../receive/answer-delivery.ts';
import type { TraceDelivery } from '../receive/app.ts';
import type { Tracing } from '../telemetry/tracing.ts';

const route = '/webhooks/{receiver}';

/**
 * Runs each delivery as the root span of a new trace. The sender's own trace is only a link, because an untrusted sender must not decide which traces are sampled.
 * Deliveries that fail authentication are not recorded; otherwise anybody could flood the collector.
 */
export function traceDeliveries(tracing: Tracing): TraceDelivery {
  return (receiver, headers, work) => {
    const link = [headers['traceparent']].flat()[0];
    const attributes = {
      'http.request.method': 'POST',
      'http.route': route,
      'image_watcher.receiver': receiver.name,
      'image_watcher.provider': receiver.provider.id,
    };
    return tracing.span({ name: `POST ${route}`, kind: 'server', link, attributes }, async (span) => {
      const answer = await work();
      span.set({ 'http.response.status_code': answer.status });
      if (answer.status === 401) span.forget();
      if (answer.status === 503) span.fail(answer.why);
      if ('accepted' in answer) {
        span.set({ 'image_watcher.accepted': answer.accepted.length, 'image_watcher.ignored': answer.ignored.length });
        for (const { code = 'OtherEvent' } of answer.ignored) tracing.event('ignored', { 'image_watcher.reason': code });
      }
      return answer;
    });
  };
}

/** Adds pushes to the queue, with the trace that the worker continues. */
export function storeTraced(queue: PushQueue, tracing: Tracing): StorePushes {
  return (events) => {
    const attributes = {
      'messaging.system': 'bullmq',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'push',
      'messaging.batch.message_count': events.length,
    };
    return tracing.step({ name: 'send push', kind: 'producer', attributes }, () => queue.add(events, tracing.current()));
  };
}
