/** The steps of a field path: `spec.parameters[0].value` → `['spec', 'parameters', 0, 'value']`. */
export type FieldSteps = readonly (string | number)[];

/** Reads a path that the schema let through; what is between brackets is a place in a list. */
export function parseFieldPath(path: string): FieldSteps {
  return [...path.matchAll(/\[([0-9]+)\]|[^.[\]]+/g)].map(([step, place]) => (place === undefined ? step : Number(place)));
}

/** The last steps of a path, in at most this many characters: for where a container would have its name. */
export function shortenPath(path: string, maxLength: number): string {
  return path.length <= maxLength ? path : `…${path.slice(1 - maxLength)}`;
}
