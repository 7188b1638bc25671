import { signedHeaders } from '../../../core/model/signed-event.ts';
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
    return {
      url: new URL(url),
      headers: { ...signedHeaders({ id, body }, secret, now), 'idempotency-key': id },
      body,
    };
  },
};
