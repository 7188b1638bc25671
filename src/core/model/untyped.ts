/** Reads JSON of unchecked shape: objects of the API server, and documents of users and registries. */

/** A JSON object whose fields are not checked. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

/** Whether a value is an object, and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object or array; {} for any other value. */
export function fieldsOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

/** Returns a text; '' for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value of a JSON text; undefined for anything else. */
export function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two JSON values are the same. An undefined field counts as absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const isMissing = (key: string) => b[key] !== undefined && ownField(a, key) === undefined;
  return Object.keys(a).every((key) => isSameJson(a[key], ownField(b, key))) && !Object.keys(b).some(isMissing);
}

/** Whether a JSON value contains more values than the limit, at any depth. Counting ends at the limit. */
export function hasMoreValues(value: unknown, limit: number): boolean {
  let left = limit;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const key in next) {
      if (--left < 0) return true;
      open.push(Reflect.get(next, key));
    }
  }
  return false;
}

function ownField(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
