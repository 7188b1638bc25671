/** Text in HTML. Pure. */
import { breakUp, isName, type Markup } from './markup.ts';

/** A text whose characters are shown as they are. */
export function encodeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** Text in HTML, for programs that make links of addresses: an element without a character keeps them from it, so that what is copied is exact. */
export const html: Pick<Markup, 'escape' | 'name'> = {
  escape: (text) => encodeHtml(text).replaceAll(/@|:(?=\/\/)|www(?=\.)/gi, '$&<wbr>'),
  name: (text) => (isName(text) ? encodeHtml(text) : html.escape(text)),
};

/**
 * HTML of chats that make links of domains, hashtags and commands in any text, but not in code. What readers copy is code, so that it is exact; elsewhere an invisible word
 * joiner breaks them up.
 */
export const chatHtml: Markup = {
  escape: (text) => encodeHtml(breakUp(text).replaceAll(/\.(?=[a-z])|#(?=\w)|(?<=^|\s)\/(?=\w)/gi, '$&\u2060')),
  name: (text) => chatHtml.code(text),
  sentence: (text) => (text === '' ? '' : chatHtml.code(text)),
  bold: (text) => `<b>${text}</b>`,
  code: (text) => `<code>${encodeHtml(text)}</code>`,
  link: (text, url) => `<a href="${encodeHtml(url)}">${encodeHtml(text)}</a>`,
};
