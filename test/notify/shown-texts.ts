/** The texts of a request to a target, by how the chat shows them. */
import assert from 'node:assert/strict';
import type { NotificationTarget, TargetRequest } from '../../src/notify/message.ts';

export interface ShownTexts {
  /** Texts that the chat shows as they are. */
  readonly plain: readonly string[];
  /** Texts in which the chat looks for markup, links and mentions. */
  readonly markup: readonly string[];
}

/** Addresses, colours and names of the format. Everything else is taken for text with markup, unless it is known to be plain. */
const formatKeys = new Set([
  '$schema',
  'type',
  'version',
  'contentType',
  'color',
  'timestamp',
  'style',
  'width',
  'weight',
  'size',
  'fontType',
  'cardId',
  'url',
  'title_link',
]);

const isPlainInSlack = ({ type }: Readonly<Record<string, unknown>>, key: string) => type === 'plain_text' && key === 'text';

/** Where a format has plain text, as the documentation of each chat says. */
const isPlain: Readonly<Partial<Record<string, (holder: Readonly<Record<string, unknown>>, key: string) => boolean>>> = {
  slack: isPlainInSlack,
  slackBot: isPlainInSlack,
  teams: ({ type }, key) => (type === 'TextRun' && key === 'text') || (type === 'Action.OpenUrl' && key === 'title'),
};

/** Chats in whose HTML the text of code is shown as it is. */
const withCode: readonly string[] = ['telegram', 'matrix'];

const decode = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

export function textsOf(target: NotificationTarget, { headers, body, html }: TargetRequest): ShownTexts {
  const plain: string[] = [];
  const markup: string[] = [headers['subject'] ?? '', ...(html === undefined ? [] : [html])];
  if (target.via === 'smtp') return { plain, markup: [...markup, body] };
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node as Record<string, unknown>)) {
      if (typeof value === 'string' && withCode.includes(target.id)) {
        plain.push(...[...value.matchAll(/<code>(.*?)<\/code>/g)].map(([, text = '']) => decode(text)));
        markup.push(value.replaceAll(/<code>.*?<\/code>/g, '…'));
      } else if (typeof value === 'string' && !formatKeys.has(key))
        (isPlain[target.id]?.(node as Record<string, unknown>, key) === true ? plain : markup).push(value);
      visit(value);
    }
  };
  visit(JSON.parse(body));
  assert.ok(markup.length + plain.length > 0);
  return { plain, markup };
}
