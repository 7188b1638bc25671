import { z } from 'zod';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The keywords of a structural schema (OpenAPI 3.0, "specifying a structural schema"). The rest of zod's output is dropped. */
const kept = new Set([
  'type',
  'description',
  'default',
  'enum',
  'format',
  'items',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'nullable',
  'maxProperties',
  'pattern',
  'properties',
  'required',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]);
/** The bound that zod writes for integers, which the format implies. */
const safeInteger = 9_007_199_254_740_991;

/** The structural schema of a zod schema, for a CustomResourceDefinition. */
export function toStructuralSchema(schema: z.ZodType): Json {
  const generated = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' });
  // The round trip through JSON drops the parts that are not JSON.
  return simplify(JSON.parse(JSON.stringify(generated)) as Json);
}

function simplify(node: Json): Json {
  if (node === null || typeof node !== 'object' || Array.isArray(node)) return node;
  const result: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(node)) {
    if (!kept.has(key)) continue;
    if (key === 'properties') result[key] = mapValues(value, simplify);
    else if (key === 'items') result[key] = simplify(value);
    else result[key] = value;
  }
  // `additionalProperties` is kept only for a map. For an object, zod writes false, which is the API server's default.
  const values = node['additionalProperties'];
  if (values !== null && typeof values === 'object' && !isEmpty(values)) result['additionalProperties'] = simplify(values);
  if (result['type'] === 'integer') tidyInteger(result);
  // Empty properties are left out: the API server drops them, and would take each write of them for a change.
  if (isEmpty(result['properties'])) delete result['properties'];
  // The pattern of a date-time is left out, because the API server checks the format, and the pattern would be a second, slower check.
  if (result['format'] === 'date-time') delete result['pattern'];
  return result;
}

function isEmpty(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function tidyInteger(node: { [key: string]: Json }): void {
  if (node['minimum'] === -safeInteger) delete node['minimum'];
  if (node['maximum'] === safeInteger) delete node['maximum'];
  node['format'] = 'int64';
}

function mapValues(value: Json | undefined, map: (value: Json) => Json): Json {
  if (value === null || value === undefined || typeof value !== 'object' || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, map(inner)]));
}
