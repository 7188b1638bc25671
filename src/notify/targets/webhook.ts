import { createHmac } from 'node:crypto';
import type { NotificationTarget } from '../message.ts';

/** A CloudEvent 1.0 in structured mode, signed by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
export const webhook: NotificationTarget = {
  id: 'webhook',
  build({ policy, at, ...data }, { id, secret, now }) {
    const name = { namespace: policy.namespace, name: policy.name };
    const body = JSON.stringify({
      specversion: '1.0',
      type: `dev.technomad.image-watcher.${data.kind}`,
      source: `/imagepolicies/${name.namespace}/${name.name}`,
      id,
      time: at,
      datacontenttype: 'application/json',
      data: { ...data, policy: name },
    });
    const timestamp = String(Math.floor(now.getTime() / 1_000));
    const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
    return {
      headers: {
        'content-type': 'application/cloudevents+json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    };
  },
};

/** The key behind `whsec_` is in base64; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
