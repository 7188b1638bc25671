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
  const { [key]: _, ...rest } = object;
  return rest;
}

/** A copy with that field; without it where its value would be an empty object. */
export function withPart(object: JsonObject, key: string, value: JsonObject): JsonObject {
  return withField(object, key, Object.keys(value).length === 0 ? undefined : value);
}

/** Whether objects and arrays are nested at most so deep: deeper ones overflow the stack of whoever walks or writes them. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isNestedWithin(inner, depth - 1));
}
