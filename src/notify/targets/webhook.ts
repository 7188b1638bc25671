import { defined } from '../../core/model/defined.ts';
import { formatSubject } from '../../core/model/notice.ts';
import { signEvent } from '../../core/model/signed-event.ts';
import { countKinds } from '../summary.ts';
import type { Content, NotificationTarget } from '../message.ts';

/** A CloudEvent 1.0 in structured mode, signed by Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks */
export const webhook: NotificationTarget = {
  id: 'webhook',
  via: 'http',
  build(content, { id, secret, now, cluster }) {
    const { type, source, time, data } = eventOf(content);
    return signEvent({ type, source, id, time, data: { ...data, ...defined({ cluster }) } }, secret, now);
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
  const origins = { ...defined({ origin: now, originBefore: before }) };
  return { type: data.kind, source, time: at, data: { ...data, ...origins, subject: shown } };
}

const plurals = {
  ImagePolicy: 'imagepolicies',
  BaseImagePolicy: 'baseimagepolicies',
  Image: 'images',
  Certificate: 'certificates',
} as const;
