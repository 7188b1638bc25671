/** HTML as trees of elements: text and attributes are escaped when a tree is written, because there is no other way to write one. */
import htm from 'htm';
import { Fragment, h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** What a template returns. */
export type Html = VNode | VNode[];

/** A template: html`<p class=${name}>${text}</p>`. An attribute whose value is undefined or false is left out. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => Html = htm.bind(h);

/** The text of a whole document. */
export function writeDocument(root: Html): string {
  return `<!doctype html>\n${renderToString(h(Fragment, null, root))}\n`;
}
