/** What every object was, and when: what was true at the API server, whoever knew it. */
import type { ApiObject, ApiServer } from './api-server.ts';

interface State {
  readonly since: number;
  readonly object: ApiObject | undefined;
}

export interface History {
  /** The states of an object that were true at some moment of this time; undefined stands for its absence. */
  statesWithin(resource: string, namespace: string, name: string, from: number, to: number): (ApiObject | undefined)[];
  /** All states of an object, with the time from which each was true. */
  statesOf(resource: string, namespace: string, name: string): readonly State[];
  /** The time of the last change of any object. */
  lastChangeAt(): number;
}

export function createHistory(server: ApiServer, now: () => number): History {
  const states = new Map<string, State[]>();
  let last = now();
  server.onChange(({ at, resource, before, after }) => {
    const { namespace = '', name } = (after ?? before)?.metadata ?? { name: '' };
    const key = `${resource} ${namespace}/${name}`;
    const known = states.get(key) ?? [];
    known.push({ since: at, object: after });
    states.set(key, known);
    last = at;
  });
  return {
    statesWithin(resource, namespace, name, from, to) {
      const known = states.get(`${resource} ${namespace}/${name}`) ?? [];
      return known.flatMap(({ since, object }, index) => (since <= to && (known[index + 1]?.since ?? Infinity) > from ? [object] : []));
    },
    statesOf: (resource, namespace, name) => states.get(`${resource} ${namespace}/${name}`) ?? [],
    lastChangeAt: () => last,
  };
}
