/** HTML as text that only templates write, so that texts and attributes are always escaped. */
import htm from 'htm';

/** What a template has written. Nothing else can make one. */
class Written {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }
}
/** The result of a template. */
export type Html = Written;

/** Each element is written as soon as it is evaluated: a tree of elements, written at the end, costs ten times as much. */
const fill = htm.bind((tag, attributes, ...children) => new Written(elementOf(tag, attributes, children)));

/** A template: html`<p class=${name}>${text}</p>`. An attribute whose value is undefined or false is omitted. */
export function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return new Written(textOf(fill(strings, ...values)));
}

/** Writes a whole document as text. */
export function writeDocument(root: Html): string {
  return `<!doctype html>\n${root.text}\n`;
}

/** The elements that have no content. */
const empty = new Set(['br', 'hr', 'img', 'input', 'link', 'meta']);

function elementOf(tag: unknown, attributes: Readonly<Record<string, unknown>> | null, children: readonly unknown[]): string {
  const name = checkedName(tag);
  let start = `<${name}`;
  for (const key in attributes) start += attributeOf(key, attributes[key]);
  return empty.has(name) ? `${start}/>` : `${start}>${textOf(children)}</${name}>`;
}

function attributeOf(name: string, value: unknown): string {
  if (value === undefined || value === null || value === false) return '';
  if (value === true || value === '') return ` ${checkedName(name)}`;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') throw new TypeError(`the attribute ${checkedName(name)} is no text`);
  return ` ${checkedName(name)}="${escape(text)}"`;
}

/** The names of elements and attributes, which templates say themselves, that were checked. */
const names = new Set<string>();

function checkedName(name: unknown): string {
  if (typeof name !== 'string') throw new TypeError('an element or an attribute has no name');
  if (names.has(name)) return name;
  if (!/^[a-z][\w-]{0,40}$/i.test(name)) throw new TypeError(`"${name}" is no name of an element or an attribute`);
  names.add(name);
  return name;
}

/** What is between tags. Values that have no text, such as undefined and false, are left out, so that a template can say `isShown && html…`. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return escape(content);
  if (content instanceof Written) return content.text;
  if (typeof content === 'number') return String(content);
  let text = '';
  if (Array.isArray(content)) for (const one of content) text += textOf(one);
  return text;
}

const special = /["&<]/g;
const entities: Readonly<Record<string, string>> = { '"': '&quot;', '&': '&amp;', '<': '&lt;' };

function escape(text: string): string {
  return text.replaceAll(special, (one) => entities[one] ?? one);
}
