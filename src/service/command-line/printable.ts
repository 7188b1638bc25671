import { hidden } from '../../core/model/hidden-text.ts';

/** Matches the beginning of `##[error]`, `##vso[…]` and `##teamcity[…]`, which GitHub, Azure DevOps and TeamCity execute anywhere in a line of a log. */
export const logCommand = /#(?=#\w*\[)/g;

/** The text of a third party (a registry's message, a payload) without control characters, which could control the terminal. */
export function printable(text: string, longest = Number.POSITIVE_INFINITY): string {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  return shown.replaceAll(hidden, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
