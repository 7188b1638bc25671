import { cut } from '../../core/model/text.ts';
import { messageOf, textOf, type NotificationTarget } from '../message.ts';
import { markdown } from '../markdown.ts';

/** The maximum length of a message: Discord refuses longer ones. */
const maxContent = 2_000;

/** A Discord webhook: https://discord.com/developers/docs/resources/webhook#execute-webhook; `allowed_mentions` prevents all mentions. */
export const discord: NotificationTarget = {
  id: 'discord',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      content: cut(textOf(messageOf(content, delivery), markdown), maxContent),
      allowed_mentions: { parse: [] },
    }),
  }),
};
