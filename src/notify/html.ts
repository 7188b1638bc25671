/** Text in HTML. Pure. */
import { isName, type Markup } from './markup.ts';

/** A text whose characters are shown as they are. */
export function encodeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
}

/** Text in HTML, for programs that make links of addresses: an element without a character keeps them from it, so that what is copied is exact. */
export const html: Pick<Markup, 'escape' | 'name'> = {
  escape: (text) => encodeHtml(text).replaceAll(/@|:(?=\/\/)|www(?=\.)/gi, '$&<wbr>'),
  name: (text) => (isName(text) ? encodeHtml(text) : html.escape(text)),
};
