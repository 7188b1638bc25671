/** The filters of the page "Activity", as its address has them. */
import type { Query } from '../page.ts';
import { filterNames } from './more-filters.ts';

export const activityNames = ['type', 'policy', ...filterNames] as const;

/** The query of the API. */
export function activityRequest(query: Query): Readonly<Record<string, string | undefined>> {
  const { from, to, ...filters } = Object.fromEntries(activityNames.map((name) => [name, query.one(name)]));
  return { ...filters, since: utcOf(from), until: utcOf(to) };
}

/** A time of a form, which browsers write without seconds and without a zone, as RFC 3339. */
export function utcOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `${text}${/T\d\d:\d\d$/.test(text) ? ':00' : ''}Z`;
}
