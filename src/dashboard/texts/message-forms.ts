/** Forms of sentences: `{0} waits for approval`, and what stands in a text at the places. Pure. */

/** A sentence with places for others in it, and what it becomes. */
export interface Form {
  /** What stands between the places. */
  readonly literals: readonly string[];
  /** The numbers of the places. Those that follow each other without anything between them are one, with the first number. */
  readonly places: readonly string[];
  /** A word that every text of this form has, the longest of them; undefined if its words stand next to places. */
  readonly word: string | undefined;
  /** Forms that say more come first. */
  readonly rank: number;
  /** Whether the message is the end of a sentence: `; it is not rolled back: {0}`. */
  readonly isEnd: boolean;
  /** Whether the message has so few words that it is recognized only by names at its first and its last place. */
  readonly needsNames: boolean;
  readonly becomes: string;
}

/** The sentence with these parts at its places. `before`: what stands before an end. */
export interface Parts {
  readonly before: string;
  readonly at: ReadonlyMap<string, string>;
}

/** Finds the forms of a table (by the English sentence) that a text may have, by its words: those that say most first. */
export function createFormIndex(table: Readonly<Record<string, string>>): (text: string) => readonly Form[] {
  const forms = Object.entries(table).map(([sentence, becomes]) => formOf(sentence, becomes));
  const byWord = Map.groupBy(forms, ({ word }) => word);
  return (text) =>
    [undefined, ...new Set(text.match(/[A-Za-z]+/g))].flatMap((word) => byWord.get(word) ?? []).sort((a, b) => b.rank - a.rank);
}

function formOf(sentence: string, becomes: string): Form {
  const [first = '', ...others] = sentence.split(/(\{\d+\}(?:\{\d+\})*)/);
  const places = others.filter((_, index) => index % 2 === 0).map((place) => place.slice(1, place.indexOf('}')));
  const literals = [first, ...others.filter((_, index) => index % 2 === 1)];
  const inside = literals.flatMap((literal) => literal.match(/(?<=[^A-Za-z])[A-Za-z]+(?=[^A-Za-z])/g) ?? []);
  const words = literals.join(' ').match(/\b[a-z]{2,}\b/g)?.length ?? 0;
  const isPart = /^(?:[,;:] | \()/.test(first);
  const rank = literals.reduce((sum, literal) => sum + literal.length, 0);
  return {
    literals,
    places,
    word: inside.toSorted((a, b) => b.length - a.length)[0],
    rank,
    isEnd: isPart || (first.startsWith(' ') && words > 1),
    needsNames: (words < 2 || rank < 8) && !isPart,
    becomes,
  };
}

/** What stands at the places of a form in a text; undefined if the text has another form. Each literal is taken where it comes first, so the work is proportional to the text. */
export function partsOf({ literals, places, isEnd, needsNames }: Form, text: string): Parts | undefined {
  const [first = ''] = literals;
  const start = isEnd ? text.indexOf(first) : text.startsWith(first) ? 0 : -1;
  if (start < 0) return undefined;
  const at = new Map<string, string>();
  let end = start + first.length;
  for (const [index, place] of places.entries()) {
    const literal = literals[index + 1] ?? '';
    const isLast = index === places.length - 1;
    const next = isLast ? lastIndex(text, literal) : text.indexOf(literal, end);
    if (next < end) return undefined;
    const part = text.slice(end, next);
    if (needsNames && (index === 0 || isLast) && !isName(part) && !(literals[index] ?? '').endsWith(': ')) return undefined;
    at.set(place, part);
    end = next + literal.length;
  }
  return end === text.length ? { before: text.slice(0, start), at } : undefined;
}

function lastIndex(text: string, literal: string): number {
  return text.endsWith(literal) ? text.length - literal.length : -1;
}

/** A word, what stands in quotes, or a workload: `Deployment shop/web`. */
function isName(text: string): boolean {
  return /^(?:\S+|"[^"]*"|[A-Z]\w* \S+)$/.test(text);
}
