import { breakUp, closingOf, formatFact, maxLengthOf } from '../markup.ts';
import { markdown } from '../markdown.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';
import { looks } from '../looks.ts';

/** A title with a link is plain text, and one without is Markdown, which would show or drop a backslash. Both are broken up in the same way. */
const escapeTitle = (text: string) => breakUp(text.replaceAll(/\](?=[([:])/g, '$&\u2060'));

/**
 * An incoming webhook of Mattermost: https://developers.mattermost.com/integrate/webhooks/incoming, with an attachment:
 * https://developers.mattermost.com/integrate/reference/message-attachments. Buttons need a server that answers, so links are in the text.
 */
export const mattermost: NotificationTarget = {
  id: 'mattermost',
  via: 'http',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const { severity, button, text } = message;
    const heading = escapeTitle(headingOf(message));
    const attachment = {
      fallback: heading,
      color: looks[severity].color,
      ...(text === undefined && { title: heading, fields: fieldsOf(message) }),
      ...(text === undefined && button && { title_link: button.url }),
      text: closingOf(message, markdown).join('\n'),
    };
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ attachments: [attachment] }) };
  },
};

/** The fields of an attachment. */
export function fieldsOf(message: Message): object[] {
  const most = maxLengthOf(message);
  return [
    ...message.facts.map((fact) => ({ title: fact.label, value: formatFact(fact, markdown, most), short: true })),
    ...message.notes.map((note) => ({ title: note.label, value: formatFact(note, markdown, most), short: false })),
  ];
}
