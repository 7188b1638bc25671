/** How the texts of a message become text of a chat: exact where that is possible, and never a mention, a link or markup. Pure. */
import { cut } from '../core/model/text.ts';
import { describeOthers, type Fact } from './fact.ts';
import { headingOf, type Message } from './message.ts';

/** The markup of a chat. */
export interface Markup {
  /** Makes a text appear as it is: no links, no mentions, no markup. */
  escape(text: string): string;
  /** A name that readers copy, such as a tag, an image or a workload. */
  name(text: string): string;
  /** A sentence of others; like `escape`, unless the chat has a better way. */
  sentence?(text: string): string;
  bold(text: string): string;
  code(text: string): string;
  link(text: string, url: string): string;
}

/**
 * Breaks up what chats and mail programs make links and mentions of, by an invisible word joiner. For places without an escape. A digest is left as it is, so that
 * `TAG@sha256:…` can be copied.
 */
export function breakUp(text: string): string {
  return text.replaceAll(/@(?!sha(?:256|512):[0-9a-f])|<|:(?=\/\/)|www(?=\.)/gi, '$&\u2060');
}

/** Whether a text has only characters of names, and nothing that chats make a link or a mention of. It needs no escape inside of code. */
export function isName(text: string): boolean {
  return /^[\w.:/@+ -]+$/.test(text) && breakUp(text) === text;
}

/** A text that is shown as it is. */
export const verbatim: Pick<Markup, 'escape' | 'name'> = { escape: (text) => text, name: (text) => text };

/** Text for programs that make links of addresses: names are exact, and other texts are broken up. */
export const unlinked: Pick<Markup, 'escape' | 'name'> = { escape: breakUp, name: (text) => (isName(text) ? text : breakUp(text)) };

/** The markup of plain text. */
export const plainText: Markup = { ...unlinked, bold: (text) => text, code: unlinked.name, link: (text, url) => `${text}: ${url}` };

/** An escaped text of at most `most` characters. It is cut before it is escaped, so that no escape is cut in two. */
export function escapeWithin(text: string, escape: Markup['escape'], most: number): string {
  let kept = most;
  let escaped = escape(cut(text, kept));
  while (escaped.length > most && kept > 1) {
    kept = Math.max(1, Math.floor((kept * most) / escaped.length));
    escaped = escape(cut(text, kept));
  }
  return escaped;
}

/** A fact in at most `most` characters. Names that have no room are counted. */
export function formatFact({ names, others, hasMore, text }: Fact, markup: Pick<Markup, 'escape' | 'name'>, most: number): string {
  const format = (shown: number, { name, escape }: Pick<Markup, 'escape' | 'name'>) => {
    const rest = describeOthers(others + names.length - shown, hasMore);
    return [names.slice(0, shown).map(name).join(', '), rest, escape(text)].filter((part) => part !== '').join(' ');
  };
  for (let shown = names.length; shown > 0; shown--) {
    const formatted = format(shown, markup);
    if (formatted.length <= most) return formatted;
  }
  return escapeWithin(format(Math.min(1, names.length), verbatim), markup.escape, most);
}

/** The most characters of all facts and notes. Discord takes 6,000 of a whole message, and other chats take more. */
const maxTotal = 4_000;
/** The most characters of a fact: Discord takes 1,024. */
const maxOne = 1_000;

/** The most characters of one fact, so that no message is too long for its chat. `total`: the most characters of all facts. */
export function maxLengthOf({ facts, notes }: Pick<Message, 'facts' | 'notes'>, total = maxTotal): number {
  return Math.min(maxOne, Math.floor(total / Math.max(1, facts.length + notes.length)));
}

/** The most characters of a rendered template. */
const maxRendered = 1_500;

/** The text of a template in the markup of the target; undefined without a template. Chats refuse empty texts, so that the title stands in for one. */
export function renderedOf(message: Message, escape: Markup['escape']): string | undefined {
  const { text } = message;
  if (text === undefined) return undefined;
  const rendered = cut(text(escape), maxRendered);
  return rendered.trim() === '' ? escape(headingOf(message)) : rendered;
}

/** What follows the facts of a chat without buttons: the text of a template in their place, the command, and the links, as far as `most` characters have room for them. */
export function closingOf(message: Message, { escape, code: codeOf, link }: Markup, most = Infinity): string[] {
  const { code, button, links } = message;
  const lines = [
    renderedOf(message, escape) ?? [],
    code === undefined ? [] : `To approve: ${codeOf(code)}`,
    [...(button ? [button] : []), ...links].map(({ text, url }) => link(text, url)),
  ].flat();
  let room = most;
  return lines.filter((line) => {
    const fits = line.length < room;
    if (fits) room -= line.length + 1;
    return fits;
  });
}

/** The message for a chat without a structure of its own: one line for each fact. `total`: the most characters of all facts. */
export function textOf(message: Message, markup: Markup, total?: number): string {
  const { facts, notes, text } = message;
  const most = maxLengthOf(message, total);
  const title = markup.bold(markup.escape(headingOf(message)));
  const { name, escape, sentence = escape } = markup;
  const format = (fact: Fact, escapeText: Markup['escape']) => `${fact.label}: ${formatFact(fact, { name, escape: escapeText }, most)}`;
  const lines = [...facts.map((fact) => format(fact, escape)), ...notes.map((note) => format(note, sentence))];
  return [...(text === undefined ? [title] : []), ...lines, ...closingOf(message, markup)].join('\n');
}
