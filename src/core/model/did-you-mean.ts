/** Finds the known word that is most similar to an unknown one. */

/** The most similar known word, unless more than a third of it differs. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: distanceOf(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(Math.max(candidate.length, word.length) / 3)))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

/** A suggestion for an error message: `; did you mean "x"?`, or an empty text. */
export function didYouMean(word: string, known: readonly string[]): string {
  const similar = closest(word, known);
  return similar === undefined ? '' : `; did you mean "${similar}"?`;
}

const longestWord = 64;

/** The number of insertions, deletions, replacements and swaps of neighbours between two words. */
function distanceOf(a: string, b: string): number {
  if (a.length > longestWord || b.length > longestWord) return a === b ? 0 : longestWord;
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, isSwap ? at(i - 2, j - 2) + 1 : Infinity));
    }
  }
  return at(a.length, b.length);
}
