/** The size of a wide range under `(?i)`, which the parser visits one character at a time: 3 ms. */
const foldedRangeSize = 250;
/** The size of a class such as `\pL`, whose table has hundreds of ranges. */
const unicodeClassSize = 25;
/** The counts of a repetition. One whose number starts with a zero is literal text. */
const counts = /\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/y;
const flags = /\(\?([a-zA-Z-]*)([:)])/y;
const unicodeClass = /^\\[pP]$/;
const groupName = /\(\?P?<[^>]*>/y;

/** An open group of a pattern: its size so far, and the size of the last atom, to which a repetition would apply. */
interface Group {
  size: number;
  last: number;
}

/**
 * An upper bound for the number of instructions of an RE2 pattern, estimated from its text without compiling it: repetitions are expanded, so a short text can
 * be a program of a million instructions. A class that is costly to parse counts as several. The result for invalid RE2 syntax is meaningless.
 */
export function estimatePatternSize(text: string): number {
  const open: Group[] = [{ size: 3, last: 0 }];
  const foldsCase = /\(\?[a-zA-Z-]*i/.test(text);
  let position = 0;
  const take = (expression: RegExp) => {
    expression.lastIndex = position;
    const match = expression.exec(text);
    if (match !== null) position += match[0].length;
    return match;
  };
  while (position < text.length) {
    const group = open.at(-1) ?? { size: 0, last: 0 };
    const add = (size: number) => {
      group.size += group.last;
      group.last = size;
    };
    const character = text.charAt(position);
    const repetition = character === '{' ? take(counts) : null;
    if (repetition !== null) {
      group.last = repeat(group.last, repetition);
    } else if (character === '(') {
      const flagged = take(flags);
      if (flagged?.[2] === ')') continue;
      const isNamed = flagged === null && take(groupName) !== null;
      if (flagged === null && !isNamed) position += 1;
      // Two for the capture instructions of a group.
      open.push({ size: flagged === null ? 2 : 0, last: 0 });
    } else if (character === ')') {
      position += 1;
      if (open.length > 1) open.pop();
      const outer = open.at(-1) ?? group;
      outer.size += outer.last;
      outer.last = group.size + Math.max(1, group.last);
    } else if (character === '|') {
      position += 1;
      add(0);
      group.size += 2;
    } else if (character === '*' || character === '+' || character === '?') {
      position += 1;
      group.last += 2;
    } else if (character === '[') {
      const { end, size } = readClass(text, position, foldsCase);
      position = end;
      add(size);
    } else if (text.startsWith('\\Q', position)) {
      const end = text.indexOf('\\E', position + 2);
      const literal = text.slice(position + 2, end === -1 ? undefined : end);
      if (literal.length > 0) add(1);
      group.size += literal.length;
      position = end === -1 ? text.length : end + 2;
    } else if (character === '\\') {
      add(unicodeClass.test(text.slice(position, position + 2)) ? unicodeClassSize : 1);
      position = endOfEscape(text, position);
    } else {
      position += 1;
      add(1);
    }
  }
  return open.reduce((total, { size, last }) => total + size + last, 0);
}

/** The size of a repetition: `x{n,m}` is n times x and m−n times x?; `x{n,}` is n times x, the last of them with a loop. */
function repeat(size: number, [, least = '0', comma, most]: RegExpExecArray): number {
  const min = Number(least);
  if (comma === undefined) return Math.max(1, min * size);
  if (most === undefined) return Math.max(1, min) * size + 2;
  const max = Number(most);
  return Math.max(1, max * size + Math.max(0, max - min));
}

function readClass(text: string, start: number, foldsCase: boolean): { end: number; size: number } {
  let position = text[start + 1] === '^' ? start + 2 : start + 1;
  let size = 1;
  for (let isFirst = true; position < text.length && (isFirst || text[position] !== ']'); isFirst = false) {
    const from = position;
    const named = text.startsWith('[:', from) ? text.indexOf(':]', from) : -1;
    position = named === -1 ? endOfEscape(text, from) : named + 2;
    if (unicodeClass.test(text.slice(from, from + 2))) size += unicodeClassSize;
    else if (named === -1 && text[position] === '-' && position + 1 < text.length && text[position + 1] !== ']') {
      position = endOfEscape(text, position + 1);
      if (foldsCase && !/^[ -[\]-~]+$/.test(text.slice(from, position))) size += foldedRangeSize;
    }
  }
  return { end: position + 1, size };
}

/** The end of a character or an escape sequence: `a`, `\d`, `\pL`, `\p{Greek}` or `\x{10FFFF}`. */
function endOfEscape(text: string, start: number): number {
  if (text[start] !== '\\') return start + String.fromCodePoint(text.codePointAt(start) ?? 0).length;
  const end = /^\\[pPx]\{/.test(text.slice(start, start + 3)) ? text.indexOf('}', start) : -1;
  if (end !== -1) return end + 1;
  return start + (unicodeClass.test(text.slice(start, start + 2)) ? 3 : 2);
}
