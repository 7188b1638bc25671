/** Characters that a terminal does not show as they are. */
export const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of others (a registry's message, a payload) without the control characters that would write to the terminal what they like. */
export function printable(text: string, longest = Number.POSITIVE_INFINITY): string {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return shown.replaceAll(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
