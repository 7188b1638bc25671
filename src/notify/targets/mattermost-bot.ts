import { isObject } from '../../core/model/untyped.ts';
import { looks } from '../looks.ts';
import { markdown } from '../markdown.ts';
import { closingOf } from '../markup.ts';
import { headingOf, messageOf, type NotificationTarget } from '../message.ts';
import { fieldsOf } from './mattermost.ts';

/**
 * A channel of Mattermost by a bot: https://developers.mattermost.com/api-documentation/#/operations/CreatePost. The secret is its token, and the URL
 * https://HOST/api/v4?channel=ID. A later notice changes the message (PatchPost) and answers in its thread, which readers of the channel need not see.
 */
export const mattermostBot: NotificationTarget = {
  id: 'mattermostBot',
  via: 'http',
  channel: /^[a-z0-9]{26}$/,
  threads: {
    idOf: (json) => (isObject(json) && typeof json['id'] === 'string' ? json['id'] : undefined),
    id: /^[a-z0-9]{26}$/,
    change({ headers, body }, id) {
      const { message, props } = JSON.parse(body) as { message: string; props: object };
      return { method: 'PUT', path: `/posts/${id}/patch`, headers, body: JSON.stringify({ message, props }) };
    },
    answer: ({ path = '', headers, body }, id) => ({
      path,
      headers,
      body: JSON.stringify({ ...(JSON.parse(body) as object), root_id: id }),
    }),
  },
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const { severity, text } = message;
    const heading = markdown.escape(headingOf(message));
    const attachment = {
      fallback: heading,
      color: looks[severity].color,
      ...(text === undefined && { fields: fieldsOf(message) }),
      text: closingOf(message, markdown).join('\n'),
    };
    return {
      path: '/posts',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${delivery.secret}` },
      body: JSON.stringify({
        channel_id: delivery.channel,
        message: text === undefined ? markdown.bold(heading) : '',
        props: { attachments: [attachment] },
      }),
    };
  },
};
