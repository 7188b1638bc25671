/** Whether a text is one character of a pattern: itself, any (`?`), or one of a set (`[0-9]`). */
type OneCharacter = (character: string) => boolean;

/**
 * Whether a text matches a glob as the kubelet reads them (Go's path/filepath.Match): `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before what is meant literally. What
 * is no glob matches nothing. It takes at most length times length steps, whatever the pattern.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = parseGlob(pattern);
  if (parts === undefined) return false;
  let [part, at] = [0, 0];
  // Where the last `*` was, and what it stood for: it alone has to take more when the rest does not fit.
  let last: { part: number; at: number } | undefined;
  while (at < text.length) {
    const expected = parts[part];
    if (expected === '*') {
      last = { part: part++, at };
    } else if (expected?.(text[at] ?? '')) {
      part++;
      at++;
    } else if (last === undefined) {
      return false;
    } else {
      last = { part: last.part, at: last.at + 1 };
      [part, at] = [last.part + 1, last.at];
    }
  }
  return parts.slice(part).every((left) => left === '*');
}

function parseGlob(pattern: string): ('*' | OneCharacter)[] | undefined {
  const parts: ('*' | OneCharacter)[] = [];
  const element = /\*|\?|\[(\^?)((?:\\.|[^\\\]])+)\]|\\(.)|([^*?[\\])/suy;
  while (element.lastIndex < pattern.length) {
    const match = element.exec(pattern);
    if (match === null) return undefined;
    const [whole, not, set, escaped, character] = match;
    if (whole === '*') parts.push('*');
    else if (whole === '?') parts.push(() => true);
    else if (set === undefined) parts.push((other) => other === (escaped ?? character));
    else {
      const isIn = parseSet(set);
      parts.push((other) => isIn(other) !== (not === '^'));
    }
  }
  return parts;
}

function parseSet(text: string): OneCharacter {
  const ranges = [...text.matchAll(/\\?(.)(?:-\\?(.))?/gsu)].map(([, from = '', to = from]) => [from, to] as const);
  return (character) => ranges.some(([from, to]) => from <= character && character <= to);
}
