import { createHmac } from 'node:crypto';
import type { CiSystemKind } from '../order.ts';

/** Calls an EventListener of Tekton, signed as its interceptor for GitHub expects: https://tekton.dev/docs/triggers/interceptors/ */
export const tekton: CiSystemKind = {
  id: 'tekton',
  build(rebuild, { url, secret }) {
    const body = JSON.stringify(rebuild);
    const signature = secret === '' ? {} : { 'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
    return {
      url: new URL(url),
      headers: { 'content-type': 'application/json', 'x-github-event': 'base-image', 'idempotency-key': rebuild.id, ...signature },
      body,
    };
  },
};
