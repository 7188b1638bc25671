/** What the address of a list of places says: its filters and its page. */
import type { Query } from '../page.ts';

const names = ['repository', 'tag', 'digest', 'runsIn', 'workload', 'search', 'state', 'after'] as const;

export type PlaceQuery = Readonly<Partial<Record<(typeof names)[number], string | undefined>>>;

/** Reads the query of an address. */
export function readPlaceQuery(query: Query): PlaceQuery {
  return Object.fromEntries(names.map((name) => [name, query.one(name)]));
}

/** The address of a list with these filters. */
export function placesPath(path: string, given: PlaceQuery): string {
  const values = names.flatMap((name): [string, string][] => {
    const value = given[name];
    return value === undefined ? [] : [[name, value]];
  });
  return values.length === 0 ? path : `${path}?${new URLSearchParams(values).toString()}`;
}

/** The page of one repository, or its containers that match. */
export function imagePath(given: PlaceQuery & { readonly repository: string }): string {
  const { repository: _, ...filters } = given;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return `${placesPath('/image', given)}${isFiltered ? '#places' : ''}`;
}
