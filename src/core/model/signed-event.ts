/** CloudEvents 1.0 in structured mode, signed by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
import { createHmac } from 'node:crypto';

/** What an event is about. `type`: the last part of its type. */
export interface CloudEvent {
  readonly type: string;
  readonly source: string;
  readonly id: string;
  /** When the event was sent, RFC 3339. */
  readonly time: string;
  readonly data: object;
}

/** The body and the headers of an event that is signed now. */
export function signEvent(
  { type, source, id, time, data }: CloudEvent,
  secret: string,
  now: Date,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const body = JSON.stringify({
    specversion: '1.0',
    type: `dev.technomad.image-watcher.${type}`,
    source,
    id,
    time,
    datacontenttype: 'application/json',
    data,
  });
  return { headers: signedHeaders({ id, body }, secret, now), body };
}

/** The headers of an event whose body is signed now. */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  secret: string,
  now: Date,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now.getTime() / 1_000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/cloudevents+json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}

/** The signing key in a secret: base64 after `whsec_`; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
