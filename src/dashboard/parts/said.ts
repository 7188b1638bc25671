/** What the service says, in the language of the reader. */
import { isSaid, sayIn, type SaidElsewhere } from '../../service/doctor/say.ts';
import { html, type Html } from '../html.ts';
import type { Texts } from '../texts/en.ts';
import { withTimes } from './inline.ts';

/** A sentence by its id. A text that has none, or one of another version, is shown as it came, which is in English. */
export function sayTo(said: SaidElsewhere | undefined, text: string, texts: Texts): Html | string {
  const { findings, language, inOwnLanguage } = texts;
  const plain = (part: string): string => plainTo(part, texts);
  const found = said === undefined ? undefined : sayIn(findings, withParameters(said, plain));
  const known = found ?? inOwnLanguage(text);
  if (known !== undefined) return withTimes(known);
  return language === 'en' ? withTimes(text) : html`<span lang="en">${withTimes(text)}</span>`;
}

/** A sentence whose parameters that are texts, such as the error of a connection, are in the language of the reader as well. */
function withParameters({ id, parameters }: SaidElsewhere, plain: (text: string) => string): SaidElsewhere {
  return {
    id,
    parameters: parameters.map((one) => (typeof one === 'string' ? plain(one) : isSaid(one) ? withParameters(one, plain) : one)),
  };
}

/** A text of the service in the language of the reader, without markup; as it came if it is not known. */
export function plainTo(text: string, { inOwnLanguage }: Texts): string {
  return inOwnLanguage(text) ?? text;
}

/** What a reason says in the language of the reader; undefined where messages are in it already, or for a reason that is not known. */
export function reasonTo(reason: string | undefined, { reasons }: Texts): string | undefined {
  return reason !== undefined && Object.hasOwn(reasons, reason) ? reasons[reason] : undefined;
}

/** A message with its reason: a message is in English, so readers of another language see what the reason says before it. */
export function messageTo(reason: string | undefined, message: string | undefined, texts: Texts): Html | string | undefined {
  const known = reasonTo(reason, texts);
  if (message === undefined) return known;
  const whole = texts.inOwnLanguage(message);
  if (whole !== undefined) return withTimes(whole);
  const own = sayTo(undefined, message, texts);
  return known === undefined ? own : html`${known}${' '}<small>${own}</small>`;
}
