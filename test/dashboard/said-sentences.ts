/** The sentences in the sources, as their strings and templates have them: `{0}`, `{1}` stand for what is put in. */
import { files, read } from '../structure/sources.ts';

export interface Sentence {
  readonly file: string;
  readonly text: string;
}

/** The sentences of the sources, and parts of them. Descriptions of fields and routes end with a period, which messages do not; titles of operations are `summary`. */
export function sentences(isIncluded: (file: string) => boolean): Sentence[] {
  return files
    .filter(isIncluded)
    .flatMap((file) => literalsOf(read(file)).map((text) => ({ file, text })))
    .filter(({ text }) => isSentence(text));
}

/** Two words of small letters, outside of names, commands, paths, markup, and code of scripts and rules. */
function isSentence(text: string): boolean {
  if (/\n|\.$|^(?:\{\d\})?[</]|^kubectl |^image-watcher [a-z ]+-?-?n? ?\{|\((?:self|KEYS|lease|'GET')/.test(text)) return false;
  const words = text.replaceAll(/\{\d+\}/g, ' ').match(/(?<![\w./:@$-])[A-Za-z]+(?![\w/(:.-]*[\w/(])/g) ?? [];
  return words.filter((word) => /^[a-z]{2,}$/.test(word)).length > 1;
}

/** The strings and templates of a source. Those that are added to each other are one. */
export function literalsOf(source: string): string[] {
  const found: string[] = [];
  let at = 0;
  let before = '';

  /** Reads code up to the end of a place in a template, or of the file. */
  function readCode(isPlace: boolean): void {
    for (let depth = 0; at < source.length;) {
      const char = source[at] ?? '';
      if (source.startsWith('//', at)) skipTo('\n');
      else if (source.startsWith('/*', at)) skipTo('*/');
      else if (char === "'" || char === '"' || char === '`') readSum();
      else if (char === '/' && /(?:^|[(,=:[!&|?{};>]|return)\s*$/.test(before)) skipPattern();
      else {
        if (char === '}' && isPlace && depth === 0) return;
        depth += char === '{' ? 1 : char === '}' ? -1 : 0;
        before = `${before}${char}`.slice(-20);
        at++;
      }
    }
  }

  function skipTo(end: string): void {
    const next = source.indexOf(end, at);
    at = next < 0 ? source.length : next + end.length;
  }

  function skipPattern(): void {
    let isInClass = false;
    for (at++; source[at] !== '/' || isInClass; at++) {
      if (source[at] === '\\') at++;
      else if (source[at] === '[') isInClass = true;
      else if (source[at] === ']') isInClass = false;
    }
    at++;
    before = "''";
  }

  function readSum(): void {
    const index = found.push('') - 1;
    const isTitle = /summary:\s*$/.test(before);
    let text = readLiteral(0);
    for (;;) {
      const [plus] = /^\s*\+\s*(?=['`])/.exec(source.slice(at, at + 200)) ?? [];
      if (plus === undefined) break;
      at += plus.length;
      text += readLiteral(text.match(/\{\d+\}/g)?.length ?? 0);
    }
    found[index] = isTitle ? '' : text;
    before = "''";
  }

  /** Reads a string or a template. `places`: how many the text before it has. */
  function readLiteral(places: number): string {
    const quote = source[at++] ?? '';
    let text = '';
    for (let place = places; source[at] !== quote;) {
      if (source[at] === '\\') {
        text += source[at + 1] === 'n' ? '\n' : (source[at + 1] ?? '');
        at += 2;
      } else if (quote === '`' && source.startsWith('${', at)) {
        at += 2;
        before = '{';
        readCode(true);
        at++;
        text += `{${place++}}`;
      } else text += source[at++] ?? '';
    }
    at++;
    return text;
  }

  readCode(false);
  return found;
}
