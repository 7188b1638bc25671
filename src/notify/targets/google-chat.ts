import { messageOf, textOf, type Markup, type NotificationTarget } from '../message.ts';

/** https://developers.google.com/workspace/chat/format-messages; it has no escape, so a word joiner (invisible) stands behind what would be markup. */
const chatMarkup: Markup = {
  escape: (text) => text.replaceAll(/[*_~`<>@]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => `*${text}*`,
  code: (text) => `\`${text}\``,
  link: (text, url) => `<${url}|${text}>`,
};

/** An incoming webhook: https://developers.google.com/workspace/chat/quickstart/webhooks */
export const googleChat: NotificationTarget = {
  id: 'googleChat',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify({ text: textOf(messageOf(content, delivery), chatMarkup) }),
  }),
};
