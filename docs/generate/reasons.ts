import { conditions } from '../explanations/conditions.ts';
import type { Explanation } from '../explanations/explanation.ts';
import { chineseReasons } from '../explanations/zh-CN-reasons.ts';
import { explanations, reasonSections, usuallyShown } from '../explanations/reasons.ts';
import { reasons, type Reason } from '../../src/core/model/reasons.ts';
import { code } from './markdown.ts';
import type { Parts } from './template.ts';

/** What a link in an explanation can lead to: the heading of a reason is its name, that of a condition begins with "Condition". */
const anchors: ReadonlySet<string> = new Set([
  ...keysOf(conditions).map(conditionAnchor),
  ...Object.keys(reasonSections).flatMap((name) => reasonsIn(name).map((reason) => reason.toLowerCase())),
]);

/** The words around the explanations, in the language of a page. */
interface Words {
  readonly condition: string;
  readonly where: string;
  readonly cause: string;
  readonly action: string;
  readonly usual: (shown: string) => string;
  readonly text: (english: string) => string;
}

const english: Words = {
  condition: 'Condition',
  where: '- **Where**: ',
  cause: '- **Cause**: ',
  action: '- **What to do**: ',
  usual: (shown) => `Where, unless a reason says otherwise: ${shown}`,
  text: (text) => text,
};

const chinese: Words = {
  condition: '状况',
  where: '- **在哪里**：',
  cause: '- **起因**：',
  action: '- **怎么做**：',
  usual: (shown) => `除非原因另有说明，显示在：${shown}`,
  text: (text) => {
    const translated = chineseReasons[text];
    if (translated === undefined) throw new Error(`docs/explanations/zh-CN-reasons.ts has no translation of: ${text}`);
    return translated;
  },
};

/** The parts of docs/templates/reasons.md. */
export const reasonParts = partsIn(english);

/** The same of docs/templates/reasons.zh-CN.md. */
export const chineseReasonParts = partsIn(chinese);

function partsIn(words: Words): Parts {
  const comma = words === chinese ? '、' : ', ';
  const linked = (text: string) => checked(words.text(text)).replaceAll('](#condition-', `](#${words.condition.toLowerCase()}-`);
  const section = (heading: string, meaning: string, { shown, cause, action }: Explanation, usual?: string) => {
    const where = shown === usual ? '' : `${words.where}${linked(shown)}\n`;
    return `### ${heading}\n\n${linked(meaning)}\n\n${where}${words.cause}${linked(cause)}\n${words.action}${linked(action)}`;
  };
  return {
    'condition-index': () =>
      keysOf(conditions)
        .map((type) => `[${code(type)}](#${`${words.condition} ${type}`.toLowerCase().replace(' ', '-')})`)
        .join(comma),
    /** `{{index blocked}}`: a link to each reason of one section. */
    index: (name) =>
      reasonsIn(name)
        .map((reason) => `[${code(reason)}](#${reason.toLowerCase()})`)
        .join(comma),
    conditions: () =>
      keysOf(conditions)
        .map((type) => section(`${words.condition} ${type}`, conditions[type].meaning, conditions[type]))
        .join('\n\n'),
    /** `{{reasons blocked}}`: the explanations of one section, after where most of them show. */
    reasons: (name) => {
      const usual = usuallyShown[name];
      const sections = reasonsIn(name).map((reason) => section(reason, sentence(reasons[reason]), explanations[reason], usual));
      return [...(usual === undefined ? [] : [words.usual(linked(usual))]), ...sections].join('\n\n');
    },
  };
}

/** A text of docs/explanations as it is on another page below docs/: its links to reasons lead to docs/reasons.md. */
export function linkedFromElsewhere(text: string): string {
  return checked(text).replaceAll(/\]\(#([\w-]+)\)/g, '](reasons.md#$1)');
}

/** The same text; throws where it links to no reason and no condition. */
function checked(text: string): string {
  for (const [, anchor = ''] of text.matchAll(/\]\(#([\w-]+)\)/g))
    if (!anchors.has(anchor)) throw new Error(`docs/explanations: there is no condition or reason #${anchor}`);
  return text;
}

function reasonsIn(name: string): Reason[] {
  const found = reasonSections[name];
  if (found === undefined) throw new Error(`docs/explanations/reasons.ts has no section "${name}"`);
  return keysOf(found);
}

function conditionAnchor(type: string): string {
  return `condition-${type.toLowerCase()}`;
}

function sentence(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}.`;
}

/** The keys with their own type: the lists are constants, which have no others. */
function keysOf<T extends object>(list: T): Extract<keyof T, string>[] {
  return Object.keys(list) as Extract<keyof T, string>[];
}
