/** What the service says, in Chinese. Conditions, records and answers hold it in English, so it is known by its form. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { createFormIndex, partsOf, type Form, type Parts } from './message-forms.ts';
import { messagesZh } from './messages-zh/index.ts';

/** Longer texts are not read. */
const maxLength = 2_000;
/** How many parts of a text are looked up, so that no text costs more than a few milliseconds, whoever writes it. */
const maxLookups = 60;

const fixed: ReadonlyMap<string, string> = new Map(Object.entries(messagesZh).filter(([sentence]) => !sentence.includes('{')));
const formsFor = createFormIndex(messagesZh);
const read = new BoundedMap<string, { readonly chinese: string | undefined }>(500);

/** A text in Chinese; undefined if nothing in it is known. Names, versions, commands, and what others have reported stay as they are. */
export function sentenceInChinese(text: string): string | undefined {
  if (text.length > maxLength) return undefined;
  const known = read.get(text) ?? { chinese: createReader()(text) };
  read.set(text, known);
  return known.chinese;
}

function createReader(): Translate {
  let left = maxLookups;
  return function translate(text: string): string | undefined {
    const whole = fixed.get(text);
    if (whole !== undefined) return whole;
    if (!text.includes(' ') || left-- <= 0) return undefined;
    const own = ofNamed(text, translate);
    if (own !== undefined) return own;
    const found = find(text);
    return found === undefined ? joined(text, translate) : fill(...found, translate);
  };
}

type Translate = (text: string) => string | undefined;

/** What is said about a workload: `Deployment shop/web: its rollout failed`. */
function ofNamed(text: string, translate: Translate): string | undefined {
  const [whole = '', name] = /^((?:[A-Z]\w* )?[\w.-]+\/[\w.-]+): /.exec(text) ?? [];
  const about = name === undefined ? undefined : translate(text.slice(whole.length));
  return about === undefined ? undefined : `${name}：${about}`;
}

/** The form of the whole text that says most, or else the end of a sentence that begins first, because it has the others in it. */
function find(text: string): readonly [Form, Parts] | undefined {
  let end: readonly [Form, Parts] | undefined;
  for (const form of formsFor(text)) {
    const parts = partsOf(form, text);
    if (parts === undefined) continue;
    if (!form.isEnd || parts.before === '') return [form, parts];
    if (end === undefined || parts.before.length < end[1].before.length) end = [form, parts];
  }
  return end;
}

function fill({ becomes }: Form, { before, at }: Parts, translate: Translate): string {
  const inside = (part: string): string => (part === '' ? '' : (translate(part) ?? namesInChinese(part)));
  return `${inside(before)}${becomes.replaceAll(/\{(\d+)\}/g, (_, place: string) => inside(at.get(place) ?? ''))}`;
}

/** What sentences are joined with, and how many of them that splits. */
const joints: readonly (readonly [joint: string, limit: number, chinese: string])[] = [
  ['; ', 12, '；'],
  ['. ', 4, '。'],
  [': ', 2, '：'],
  [', ', 12, '，'],
  [' and ', 4, ' 和 '],
  [' or ', 4, ' 或 '],
];

/** Names in a known sentence, which stay as they are: `shop/web:1.4 and shop/proxy:1.4`. Other texts are unchanged. */
function namesInChinese(text: string): string {
  const [, joint = '', chinese = ''] = joints.map(([one, , to]) => [text, one, to]).find(([, one = '']) => text.includes(one)) ?? [];
  const names = joint === '' ? [] : text.split(joint);
  return names.length > 1 && names.every((name) => /^[^\s;,]+$/.test(name)) ? names.join(chinese) : text;
}

/** Several sentences of which at least one is known. */
function joined(text: string, translate: Translate): string | undefined {
  for (const [joint, limit, chinese] of joints) {
    const parts = splitAt(text, joint, limit);
    if (parts.length < 2) continue;
    const translated = parts.map(translate);
    if (translated.some((one, index) => one !== undefined && (parts[index] ?? '').includes(' ')))
      return translated.map((one, index) => one ?? parts[index]).join(chinese);
  }
  return undefined;
}

/** At most `limit` parts; the last one has the rest. */
function splitAt(text: string, joint: string, limit: number): string[] {
  const parts = text.split(joint);
  return parts.length <= limit ? parts : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(joint)];
}
