import { en, type Texts } from './en.ts';
import { zh } from './zh.ts';

const languages = { en, zh } as const;
export type Language = keyof typeof languages;

/** The texts in a language; by the cookie of the user, or by what the browser accepts first. */
export function textsFor(cookie: string | undefined, acceptLanguage: string | undefined): Texts {
  return languages[asLanguage(cookie) ?? preferred(acceptLanguage ?? '')];
}

/** The language of this name, if there is one. */
export function asLanguage(name: string | undefined): Language | undefined {
  return name === 'en' || name === 'zh' ? name : undefined;
}

function preferred(accepted: string): Language {
  return /^\s*zh\b/i.test(accepted) ? 'zh' : 'en';
}
