import { messageOf, textOf, type Markup, type NotificationTarget } from '../message.ts';

/**
 * Slack's mrkdwn: https://api.slack.com/reference/surfaces/formatting. `<…>` are links and mentions. An invisible word joiner after each character of markup
 * keeps texts from being interpreted as markup or addresses.
 */
const mrkdwn: Markup = {
  escape: (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll(/[*_~`@#]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => `*${text}*`,
  code: (text) => `\`${text}\``,
  link: (text, url) => `<${url}|${text}>`,
};

/** An incoming webhook of Slack: https://api.slack.com/messaging/webhooks */
export const slack: NotificationTarget = {
  id: 'slack',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      text: textOf(messageOf(content, delivery), mrkdwn),
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
    }),
  }),
};
