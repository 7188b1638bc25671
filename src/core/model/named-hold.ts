/** The hold of a policy: it stays at what it runs until a release. One annotation says since when, by whom and why. Pure. */
import { defined } from './defined.ts';
import { readTime } from './text.ts';

/** The annotation that holds a policy: `2026-03-01T12:00:00Z ada@example.com`, and in a second line why. */
export const holdAnnotation = 'operator.technomad.dev/hold';

const [maxName, maxReason, maxRead] = [253, 300, 2_048];

/** A hold, as far as its annotation says something about it. Any text holds: what cannot be read must not be taken for nothing. */
export interface NamedHold {
  /** Since when, as its author says; RFC 3339. Absent if the text does not begin with a time: then no release can be later. */
  readonly at?: string;
  readonly user?: string;
  readonly reason?: string;
}

/** The text of a hold in the annotation. */
export function formatHold({ at = '', user = '', reason = '' }: NamedHold): string {
  const why = reason.trim().slice(0, maxReason);
  return `${[at, user].filter((part) => part !== '').join(' ')}${why === '' ? '' : `\n${why}`}`;
}

/** The hold of a policy; undefined if it has none. The name is never shortened: it would be another one. */
export function readHold({ [holdAnnotation]: text }: Readonly<Record<string, unknown>>): NamedHold | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  const [line = '', ...more] = text.slice(0, maxRead).trim().split('\n');
  const [first = '', ...words] = line.split(' ');
  const at = readTime(first)?.toISOString();
  const user = words.join(' ').trim();
  if (at === undefined) return { reason: text.slice(0, maxRead).trim().replaceAll('\n', ' ').slice(0, maxReason) };
  const reason = more.join(' ').trim().slice(0, maxReason);
  return { at, ...defined({ user: user === '' || user.length > maxName ? undefined : user, reason: reason === '' ? undefined : reason }) };
}

/** Describes a hold for people: `since 2026-03-01T12:00:00.000Z by ada@example.com: payments fail`. */
export function describeHold({ at, user, reason }: NamedHold): string {
  if (at === undefined) return reason ?? '';
  const since = user === undefined ? `since ${at}` : `since ${at} by ${user}`;
  return reason === undefined ? since : `${since}: ${reason}`;
}
