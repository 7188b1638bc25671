/** What the address of the list of policies says: filters, groups, order and page. */
import type { Query } from '../page.ts';

export const groupings = ['cause', 'namespace', 'image'] as const;
export type Grouping = (typeof groupings)[number];

export interface ListQuery {
  readonly states: readonly string[];
  readonly search: string | undefined;
  readonly namespace: string | undefined;
  readonly registry: string | undefined;
  readonly team: string | undefined;
  /** The digest of an image that a policy selects, waits with, has changed to, or rejects. */
  readonly digest: string | undefined;
  readonly receiver: string | undefined;
  /** When a policy has changed last, in UTC. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly group: Grouping | undefined;
  readonly sort: string | undefined;
  /** The `next` of the page before. */
  readonly after: string | undefined;
}

/** Reads the query of an address. A grouping that does not exist is none. */
export function readListQuery(query: Query): ListQuery {
  const { one } = query;
  return {
    states: query.all('state').flatMap((text) => text.split(',')),
    search: one('search'),
    namespace: one('namespace'),
    registry: one('registry'),
    team: one('team'),
    digest: one('digest'),
    receiver: one('receiver'),
    from: one('from'),
    to: one('to'),
    group: groupings.find((name) => name === one('group')),
    sort: one('sort'),
    after: one('after'),
  };
}

/** An address that says the same; only the path where nothing is chosen. */
export function addressWith(path: string, { states, ...values }: ListQuery): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));
  const all = new URLSearchParams([...states.map((state): [string, string] => ['state', state]), ...given]);
  return all.size === 0 ? path : `${path}?${all.toString()}`;
}
