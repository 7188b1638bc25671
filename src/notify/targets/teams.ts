import { headingOf, messageOf, type NotificationTarget } from '../message.ts';
import { markdown } from '../markdown.ts';

const textBlock = (content: string, more: object = {}) => ({ type: 'TextBlock', text: content, wrap: true, ...more });

/** A workflow of Teams, "When a Teams webhook request is received", which posts an Adaptive Card: https://adaptivecards.io/explorer/ */
export const teams: NotificationTarget = {
  id: 'teams',
  via: 'http',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const { facts, code, links, text } = message;
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        textBlock(markdown.escape(headingOf(message)), { weight: 'Bolder' }),
        text === undefined
          ? { type: 'FactSet', facts: facts.map(([label, value]) => ({ title: label, value: markdown.escape(value) })) }
          : textBlock(text(markdown.escape)),
        ...(code === undefined ? [] : [textBlock(`To approve: ${code}`, { fontType: 'Monospace' })]),
      ],
      ...(links.length > 0 && { actions: links.map(({ text, url }) => ({ type: 'Action.OpenUrl', title: text, url })) }),
    };
    const attachments = [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }];
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ type: 'message', attachments }) };
  },
};
