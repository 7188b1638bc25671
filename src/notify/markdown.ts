/** Markdown in the form that most chats support. */
import { breakUp, isName, type Markup } from './markup.ts';

/** Escapes Markdown by backslashes. Names are shown as code, which is exact, and in which nothing is markup or a mention. */
export const markdown: Markup = {
  escape: (text) => breakUp(text.replaceAll(/[\\*_~`|<>[\]()#]/g, '\\$&')),
  name: (text) => (isName(text) ? markdown.code(text) : markdown.escape(text)),
  bold: (text) => `**${text}**`,
  code: (text) => `\`${text.replaceAll('`', "'")}\``,
  link: (text, url) => `[${text}](${url})`,
};
