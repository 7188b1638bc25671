/** Reads JSON of unknown shape. */
import type { JsonObject } from '../../core/model/untyped.ts';

/** Returns a text; undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Returns a whole number; undefined for any other value. */
export function wholeNumberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** A copy of the object with the field, or without it if the value is undefined. */
export function withField(object: JsonObject, key: string, value: unknown): JsonObject {
  if (value !== undefined) return { ...object, [key]: value };
  if (!Object.hasOwn(object, key)) return object;
  const { [key]: _, ...rest } = object;
  return rest;
}

/** The fields whose value is defined. */
export function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A copy of the object with the field, or without it if the value is an empty object. */
export function withPart(object: JsonObject, key: string, value: JsonObject): JsonObject {
  return withField(object, key, Object.keys(value).length === 0 ? undefined : value);
}

/** Whether objects and arrays are nested at most to this depth: deeper ones overflow the stack when they are walked or written. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  // A loop without closures, because it is run for each object of a list.
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && !isNestedWithin(inner, depth - 1)) return false;
  }
  return true;
}
