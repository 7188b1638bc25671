/** JSON whose shape nobody has checked. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text, or undefined when the value is none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The whole number, or undefined when the value is none. */
export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** A copy with that field; without it where the value is undefined. */
export function withField(object: JsonObject, key: string, value: unknown): JsonObject {
  if (value !== undefined) return { ...object, [key]: value };
  if (!Object.hasOwn(object, key)) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

/** The fields that have a value. */
export function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A copy with that field; without it where its value would be an empty object. */
export function withPart(object: JsonObject, key: string, value: JsonObject): JsonObject {
  return withField(object, key, Object.keys(value).length === 0 ? undefined : value);
}

/** Whether objects and arrays are nested at most so deep: deeper ones overflow the stack of whoever walks or writes them. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  // A loop without closures: each object of a list is walked through.
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && !isNestedWithin(inner, depth - 1)) return false;
  }
  return true;
}
