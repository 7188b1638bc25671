import { messageOf, textOf, type NotificationTarget } from '../message.ts';
import { markdown } from '../markdown.ts';

/** An incoming webhook of Mattermost: https://developers.mattermost.com/integrate/webhooks/incoming */
export const mattermost: NotificationTarget = {
  id: 'mattermost',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: textOf(messageOf(content, delivery), markdown) }),
  }),
};
