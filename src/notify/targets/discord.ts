import { isObject } from '../../core/model/untyped.ts';
import { closingOf, escapeWithin, formatFact, maxLengthOf } from '../markup.ts';
import { markdown } from '../markdown.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';
import { looks } from '../looks.ts';

/** The most characters of a title: https://discord.com/developers/docs/resources/message#embed-object-embed-limits */
const maxTitle = 256;
/** The most characters below the title. A message has 6,000: this, the title, and the facts with their labels. */
const maxDescription = 1_300;
const maxOwnDescription = 4_000;

/**
 * A Discord webhook with an embed: https://discord.com/developers/docs/resources/webhook#execute-webhook. `allowed_mentions` prevents all mentions. A webhook has
 * no buttons, so the title is the link, and the description names it. With `wait`, the response names the message, which is changed later:
 * https://discord.com/developers/docs/resources/webhook#edit-webhook-message. A webhook cannot answer a message.
 */
export const discord: NotificationTarget = {
  id: 'discord',
  via: 'http',
  threads: {
    idOf: (json) => (isObject(json) && typeof json['id'] === 'string' ? json['id'] : undefined),
    id: /^\d{1,20}$/,
    change: ({ headers, body }, id) => ({ method: 'PATCH', path: `/messages/${id}`, headers, body }),
  },
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const { severity, button, text } = message;
    const description = closingOf(message, markdown, text === undefined ? maxDescription : maxOwnDescription).join('\n');
    const embed = {
      ...(text === undefined && { title: escapeWithin(headingOf(message), markdown.escape, maxTitle), fields: fieldsOf(message) }),
      ...(text === undefined && button && { url: button.url }),
      ...(description !== '' && { description }),
      color: Number.parseInt(looks[severity].color.slice(1), 16),
      timestamp: content.type === 'notice' ? content.notice.at : content.at,
    };
    return {
      query: { wait: 'true' },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ embeds: [embed], allowed_mentions: { parse: [] } }),
    };
  },
};

function fieldsOf(message: Message): object[] {
  const most = maxLengthOf(message);
  return [
    ...message.facts.map((fact) => ({ name: fact.label, value: formatFact(fact, markdown, most), inline: true })),
    ...message.notes.map((note) => ({ name: note.label, value: formatFact(note, markdown, most) })),
  ];
}
