import { cut } from '../../core/model/text.ts';

const maxLength = 300;

/** What somebody else says about a verdict, as one line of at most 300 characters that neither breaks a line nor hides text. */
export function oneLine(text: string): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), maxLength);
}
