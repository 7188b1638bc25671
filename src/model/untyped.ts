/** Reads JSON whose shape is not checked: objects of the API server, and documents of users and registries. */

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

/** A text; '' for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
