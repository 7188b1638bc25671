import type { Fact } from '../fact.ts';
import { breakUp, escapeWithin, formatFact, maxLengthOf, renderedOf, verbatim, type Markup } from '../markup.ts';
import { headingOf, messageOf, type Message, type NotificationTarget } from '../message.ts';
import { looks } from '../looks.ts';

/** Slack decodes these three everywhere: https://docs.slack.dev/messaging/formatting-message-text */
const encode = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack's mrkdwn, for the texts of templates. It has no escape for markup, so an invisible word joiner keeps texts from being markup; `_` is none inside of words. */
const mrkdwn: Pick<Markup, 'escape' | 'code' | 'link'> = {
  escape: (text) => breakUp(encode(text).replaceAll(/[*~`#]|(?<!\w)_|_(?!\w)/g, '$&\u2060')),
  code: (text) => `\`${encode(text).replaceAll('`', "'")}\``,
  link: (text, url) => `<${url}|${text}>`,
};

/** The most characters of a header: https://docs.slack.dev/reference/block-kit/blocks/header-block */
const maxHeader = 150;
/** The most fields of a section, and the most characters of each: https://docs.slack.dev/reference/block-kit/blocks/section-block */
const maxFields = 10;
const maxText = 2_000;

/** The most characters on a button: https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const maxButton = 75;

/** A text in which nothing is markup, a mention, a link or the name of an emoji. */
const plain = (text: string, most: number) => ({ type: 'plain_text', text: escapeWithin(text, encode, most), emoji: false });
/** A text of ours. `verbatim` keeps Slack from making links of anything else. */
const marked = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });

/** An incoming webhook of Slack, with Block Kit: https://docs.slack.dev/block-kit. The colour is that of an attachment, which holds all but the title. */
export const slack: NotificationTarget = {
  id: 'slack',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...slackMessage(messageOf(content, delivery)), unfurl_links: false, unfurl_media: false }),
  }),
};

/** The fields of a message that may be changed later. */
export function slackMessage(message: Message): object {
  const heading = headingOf(message);
  const rendered = renderedOf(message, mrkdwn.escape);
  return {
    // The text of the notification. The blocks are shown in its place.
    text: mrkdwn.escape(heading),
    blocks:
      rendered === undefined
        ? [{ type: 'header', text: plain(heading, maxHeader) }]
        : [{ type: 'section', text: { type: 'mrkdwn', text: rendered } }],
    attachments: attachmentsOf(message),
    link_names: false,
  };
}

function attachmentsOf(message: Message): object[] {
  const { severity, facts, notes, code, button, links } = message;
  const most = maxLengthOf(message);
  const format = (fact: Fact) => plain(`${fact.label}\n${formatFact(fact, verbatim, most)}`, maxText);
  const sections = Array.from({ length: Math.ceil(facts.length / maxFields) }, (_, index) => ({
    type: 'section',
    fields: facts.slice(index * maxFields, (index + 1) * maxFields).map(format),
  }));
  const context = [
    ...notes.map((note) => plain(`${note.label}: ${formatFact(note, verbatim, most)}`, maxText)),
    ...links.map(({ text, url }) => marked(mrkdwn.link(text, url))),
  ];
  const blocks = [
    ...sections,
    ...(code === undefined ? [] : [{ type: 'section', text: marked(`To approve: ${mrkdwn.code(code)}`) }]),
    ...(context.length > 0 ? [{ type: 'context', elements: context }] : []),
    ...(button ? [{ type: 'actions', elements: [{ type: 'button', text: plain(button.text, maxButton), url: button.url }] }] : []),
  ];
  return blocks.length === 0 ? [] : [{ color: looks[severity].color, blocks }];
}
