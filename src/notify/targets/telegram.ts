import { chatHtml } from '../html.ts';
import { textOf } from '../markup.ts';
import { messageOf, type NotificationTarget } from '../message.ts';

/** The most characters of all facts: a message has 4,096, with its title and the texts of its links. */
const maxFacts = 2_000;

/**
 * The method sendMessage of a bot of Telegram: https://core.telegram.org/bots/api#sendmessage. The URL contains the token, and its query the chat. The link is in the text,
 * because Telegram refuses a message whose button leads to a host that it does not take for one.
 */
export const telegram: NotificationTarget = {
  id: 'telegram',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      text: textOf(messageOf(content, delivery), chatHtml, maxFacts),
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
    }),
  }),
};
