import { en, type Texts } from './en.ts';
import { zh } from './zh.ts';

const languages = { en, zh } as const;
export type Language = keyof typeof languages;

/** The texts in the user's language, chosen by the cookie, or else by the first accepted language of the browser. */
export function textsFor(cookie: string | undefined, acceptLanguage: string | undefined): Texts {
  return languages[asLanguage(cookie) ?? preferred(acceptLanguage ?? '')];
}

/** The language with this name; undefined if there is none. */
export function asLanguage(name: string | undefined): Language | undefined {
  return name === 'en' || name === 'zh' ? name : undefined;
}

function preferred(accepted: string): Language {
  return /^\s*zh\b/i.test(accepted) ? 'zh' : 'en';
}
