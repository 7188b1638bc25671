import { createHmac } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import { formatSubject } from '../../core/model/notice.ts';
import { countKinds } from '../summary.ts';
import type { Content, NotificationTarget } from '../message.ts';

/** A CloudEvent 1.0 in structured mode, signed by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
export const webhook: NotificationTarget = {
  id: 'webhook',
  via: 'http',
  build(content, { id, secret, now, cluster }) {
    const { type, source, time, data } = eventOf(content);
    const body = JSON.stringify({
      specversion: '1.0',
      type: `dev.technomad.image-watcher.${type}`,
      source,
      id,
      time,
      datacontenttype: 'application/json',
      data: { ...data, ...defined({ cluster }) },
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

function eventOf(content: Content): { readonly type: string; readonly source: string; readonly time: string; readonly data: object } {
  if (content.type === 'test') return { type: 'Test', source: '/test', time: content.at, data: { target: content.target } };
  if (content.type === 'summary') {
    const { target, at, notices, more } = content;
    return { type: 'Summary', source: '/summaries', time: at, data: { target, counts: countKinds(notices), more } };
  }
  const { subject, at, interim: _, ...data } = content.notice;
  const { uid: __, ...shown } = subject;
  const source = `/${plurals[subject.kind]}/${formatSubject(subject).split('/').map(encodeURIComponent).join('/')}`;
  const { now, before } = content.origins ?? {};
  const origins = { ...(now && { origin: now }), ...(before && { originBefore: before }) };
  return { type: data.kind, source, time: at, data: { ...data, ...origins, subject: shown } };
}

const plurals = {
  ImagePolicy: 'imagepolicies',
  BaseImagePolicy: 'baseimagepolicies',
  Image: 'images',
  Certificate: 'certificates',
} as const;

/** The signing key in a secret: base64 after `whsec_`; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}
