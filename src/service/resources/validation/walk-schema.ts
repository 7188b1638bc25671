import { isObject } from '../../../core/model/untyped.ts';
import { z } from 'zod';
import type { Keys } from './problem.ts';

/** A value of the right JSON type, with its schema and its location. */
export interface Place {
  readonly schema: z.core.$ZodType;
  readonly value: unknown;
  readonly keys: Keys;
}

/** Walks a value along its schema, from the outside in. Values that are absent or of another JSON type than the schema's are skipped. */
export function* walkSchema(schema: z.core.$ZodType, value: unknown, keys: Keys = []): Generator<Place> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isObject(value)) {
    yield { schema: inner, value, keys };
    for (const [key, field] of Object.entries<z.core.$ZodType>(inner.shape)) {
      if (Object.hasOwn(value, key)) yield* walkSchema(field, value[key], [...keys, key]);
    }
  } else if (inner instanceof z.ZodRecord && isObject(value)) {
    yield { schema: inner, value, keys };
    for (const [key, entry] of Object.entries(value)) yield* walkSchema(inner.valueType, entry, [...keys, key]);
  } else if (inner instanceof z.ZodArray && Array.isArray(value)) {
    yield { schema: inner, value, keys };
    for (const [index, entry] of value.entries()) yield* walkSchema(inner.element, entry, [...keys, index]);
  } else if (inner instanceof z.ZodString && typeof value === 'string') {
    yield { schema: inner, value, keys };
  }
}

/** The schema of a field; undefined for an unknown field. */
export function schemaAt(root: z.core.$ZodType, keys: Keys): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = root;
  for (const key of keys) {
    const outer: z.core.$ZodType | undefined = current && unwrap(current);
    if (outer instanceof z.ZodObject) current = outer.shape[key];
    else if (outer instanceof z.ZodArray) current = outer.element;
    else if (outer instanceof z.ZodRecord) current = outer.valueType;
    else return undefined;
  }
  return current;
}

/** The location of every field that is in no list and no record, from the outside in. */
export function* walkShape(schema: z.core.$ZodType, keys: Keys = []): Generator<Keys> {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) return;
  for (const [key, field] of Object.entries<z.core.$ZodType>(inner.shape)) {
    yield [...keys, key];
    yield* walkShape(field, [...keys, key]);
  }
}

/** The schema without the wrappers that make a field optional, compute its value, or check it before. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  const isWrapped =
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault;
  return isWrapped ? unwrap(schema.unwrap()) : schema;
}

/** The value as the API server reads it, which treats a null field as absent. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(present.map(([key, inner]) => [key, withoutNulls(inner)]));
}
