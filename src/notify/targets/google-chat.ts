import type { Fact } from '../fact.ts';
import { encodeHtml } from '../html.ts';
import { breakUp, formatFact, maxLengthOf, renderedOf, type Markup } from '../markup.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';

/** The markup of messages, for templates: https://developers.google.com/workspace/chat/format-messages; without an escape, so a word joiner breaks markup. */
const escapeChat: Markup['escape'] = (text) => breakUp(text.replaceAll(/[*~`>]|(?<!\w)_|_(?!\w)/g, '$&\u2060'));

/** The texts of cards are a subset of HTML: https://developers.google.com/workspace/chat/format-messages#card-formatting */
const card: Pick<Markup, 'escape' | 'name'> = { escape: (text) => encodeHtml(breakUp(text)), name: (text) => encodeHtml(breakUp(text)) };

/** An incoming webhook of Google Chat, with a card: https://developers.google.com/workspace/chat/api/reference/rest/v1/cards. It takes 32,000 bytes. */
export const googleChat: NotificationTarget = {
  id: 'googleChat',
  via: 'http',
  build(content, delivery) {
    const message = messageOf(content, delivery);
    const rendered = renderedOf(message, escapeChat);
    const heading = breakUp(headingOf(message));
    const widgets = widgetsOf(message);
    const shown = { ...(rendered === undefined && { header: { title: heading } }), sections: [{ widgets }] };
    return {
      headers: { 'content-type': 'application/json; charset=UTF-8' },
      body: JSON.stringify({
        ...(rendered === undefined ? { fallbackText: heading } : { text: rendered }),
        ...(widgets.length > 0 && { cardsV2: [{ cardId: 'notice', card: shown }] }),
      }),
    };
  },
};

const paragraph = (text: string) => ({ textParagraph: { text } });

function widgetsOf(message: Message): object[] {
  const { facts, notes, code, button, links } = message;
  const most = maxLengthOf(message);
  const widget = (fact: Fact) => ({ decoratedText: { topLabel: fact.label, text: formatFact(fact, card, most), wrapText: true } });
  return [
    ...[...facts, ...notes].map(widget),
    ...(code === undefined ? [] : [paragraph(`To approve: ${card.name(code)}`)]),
    ...links.map(({ text, url }) => paragraph(`<a href="${encodeHtml(url)}">${encodeHtml(text)}</a>`)),
    ...(button ? [{ buttonList: { buttons: [{ text: button.text, onClick: { openLink: { url: button.url } } }] } }] : []),
  ];
}
