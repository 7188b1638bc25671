/** What the service says, in the language of the reader. */
import { sayIn, type SaidElsewhere } from '../../service/doctor/say.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';

/** A sentence by its id. A text that has none, or one of another version, is shown as it came, which is in English. */
export function sayTo(said: SaidElsewhere | undefined, text: string, { findings, language }: Texts): Html | string {
  const found = said === undefined ? undefined : sayIn(findings, said);
  if (found !== undefined) return found;
  return language === 'en' ? text : html`<span lang="en">${text}</span>`;
}
