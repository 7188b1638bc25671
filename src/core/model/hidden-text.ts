/** Characters that are not shown as they are. They come from registries, senders and tenants. */

/** Matches characters that a terminal interprets, or does not show as they are. */
export const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON in which hidden characters are escaped, except the line breaks between its values. */
export function escapeHidden(json: string): string {
  // Most texts have none, and log lines are many.
  if (!/[^\n -~]/.test(json)) return json;
  return json.replaceAll(hidden, (characters) =>
    characters === '\n'
      ? characters
      : Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
          .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
          .join(''),
  );
}

/** A text in which a mark (U+FFFD) stands for each hidden character, so that readers see that there is one. */
export function showHidden(text: string): string {
  return text.replaceAll(hidden, '\u{FFFD}');
}
