import { messageOf, textOf, type Markup, type NotificationTarget } from '../message.ts';

/** The markup of Google Chat: https://developers.google.com/workspace/chat/format-messages; without an escape, so an invisible word joiner breaks markup. */
const chatMarkup: Markup = {
  escape: (text) => text.replaceAll(/[*_~`<>@]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => `*${text}*`,
  code: (text) => `\`${text}\``,
  link: (text, url) => `<${url}|${text}>`,
};

/** An incoming webhook of Google Chat: https://developers.google.com/workspace/chat/quickstart/webhooks */
export const googleChat: NotificationTarget = {
  id: 'googleChat',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    body: JSON.stringify({ text: textOf(messageOf(content, delivery), chatMarkup) }),
  }),
};
