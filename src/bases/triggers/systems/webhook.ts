import { createHmac } from 'node:crypto';
import type { CiSystemKind } from '../order.ts';

/** Sends a CloudEvent 1.0 in structured mode, signed by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
export const webhook: CiSystemKind = {
  id: 'webhook',
  build(rebuild, { url, secret, now }) {
    const { id, policy, source, ...data } = rebuild;
    const body = JSON.stringify({
      specversion: '1.0',
      type: 'dev.technomad.image-watcher.rebuild',
      source: `/baseimagepolicies/${policy.namespace}/${policy.name}`,
      id,
      subject: source,
      datacontenttype: 'application/json',
      data: { ...data, source, policy },
    });
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
    return {
      url: new URL(url),
      headers: {
        'content-type': 'application/cloudevents+json',
        'idempotency-key': id,
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    };
  },
};

/** The signing key in a secret: base64 after `whsec_`; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
