import { messageOf, textOf, type Markup, type NotificationTarget } from '../message.ts';

/** The markup of plain text. Mail programs make links of addresses, so an invisible word joiner is inserted into texts of others. */
const plain: Markup = {
  escape: (text) => text.replaceAll(/[@<]|:(?=\/\/)|www(?=\.)/gi, '$&\u2060'),
  bold: (text) => text,
  code: (text) => text,
  link: (text, url) => `${text}: ${url}`,
};

/** A mail by SMTP: https://www.rfc-editor.org/rfc/rfc5321 */
export const email: NotificationTarget = {
  id: 'email',
  via: 'smtp',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    return { headers: { subject: `[image-watcher] ${message.title}` }, body: `${textOf(message, plain)}\n` };
  },
};
