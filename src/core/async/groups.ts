/**
 * Objects by the key of their group and, in a group, by name. Most groups of a large cluster have one object (the label `app` of a Deployment, the target of a
 * policy), and a Map for each would take more memory than the objects. So a group gets a Map only with its second object.
 */
export interface Groups<V extends object> {
  /** Adds an object to a group, or replaces the object of its name. */
  set(key: string, object: V): void;
  remove(key: string, name: string): void;
  get(key: string): Group<V>;
}

/** The objects of one group. */
export interface Group<V> {
  readonly size: number;
  values(): Iterable<V>;
}

const empty: Group<never> = { size: 0, values: () => [] };

/** Creates an empty set of groups; `nameOf` distinguishes the objects of a group. */
export function createGroups<V extends object>(nameOf: (object: V) => string): Groups<V> {
  const groups = new Map<string, V | Map<string, V>>();
  return {
    set(key, object) {
      const group = groups.get(key);
      if (group instanceof Map) group.set(nameOf(object), object);
      else if (group === undefined || nameOf(group) === nameOf(object)) groups.set(key, object);
      else {
        groups.set(
          key,
          new Map([
            [nameOf(group), group],
            [nameOf(object), object],
          ]),
        );
      }
    },
    remove(key, name) {
      const group = groups.get(key);
      if (group instanceof Map) {
        group.delete(name);
        if (group.size === 0) groups.delete(key);
      } else if (group !== undefined && nameOf(group) === name) groups.delete(key);
    },
    get(key) {
      const group = groups.get(key);
      if (group === undefined) return empty;
      return group instanceof Map ? group : { size: 1, values: () => [group] };
    },
  };
}
