import type { Tracing } from '../telemetry/tracing.ts';
import type { Answer, Receiver } from './answer-delivery.ts';
import type { Delivery } from './providers/provider.ts';

const route = '/webhooks/{receiver}';

/**
 * Runs a delivery as the root span of a new trace. The sender's own trace is only a link, because an untrusted sender must not decide which traces are sampled.
 * Deliveries that fail authentication are not recorded; otherwise anybody could flood the collector.
 */
export function traceDelivery(
  tracing: Tracing,
  receiver: Receiver,
  headers: Delivery['headers'],
  work: () => Promise<Answer>,
): Promise<Answer> {
  const attributes = {
    'http.request.method': 'POST',
    'http.route': route,
    'image_watcher.receiver': receiver.name,
    'image_watcher.provider': receiver.provider.id,
  };
  const link = [headers['traceparent']].flat()[0];
  return tracing.span({ name: `POST ${route}`, kind: 'server', attributes, link }, async (span) => {
    const answer = await work();
    span.set({ 'http.response.status_code': answer.status });
    if (answer.status === 401) span.forget();
    if (answer.status === 503) span.fail(answer.why);
    if ('accepted' in answer) {
      span.set({ 'image_watcher.accepted': answer.accepted.length, 'image_watcher.ignored': answer.ignored.length });
      for (const { code = 'OtherEvent' } of answer.ignored) span.event('ignored', { 'image_watcher.reason': code });
    }
    return answer;
  });
}
