/** HTML as trees of elements. Trees are the only way to write it, so texts and attributes are always escaped. */
import htm from 'htm';
import { Fragment, h, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** The result of a template. */
export type Html = VNode | VNode[];

/** A template: html`<p class=${name}>${text}</p>`. An attribute whose value is undefined or false is omitted. */
export const html: (strings: TemplateStringsArray, ...values: readonly unknown[]) => Html = htm.bind(h);

/** Writes a whole document as text. */
export function writeDocument(root: Html): string {
  return `<!doctype html>\n${renderToString(h(Fragment, null, root))}\n`;
}
