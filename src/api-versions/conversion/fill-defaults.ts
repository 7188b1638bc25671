import { toStructuralSchema } from '../structural-schema.ts';
import { specSchema } from '../v1-spec.ts';
import { isObject } from './read-json.ts';

/**
 * The v1 spec with the defaults of the schema, as the API server fills them in when somebody writes v1. It does not do so after a conversion: without this the first
 * write of any kind would change the spec, count up the generation, and make its writer the owner of the defaults.
 */
export function fillDefaults(spec: unknown): unknown {
  return fill(spec, schema);
}

const schema = toStructuralSchema(specSchema);

function fill(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fill(item, schema['items']));
  const properties = schema['properties'];
  if (!isObject(value) || !isObject(properties)) return value;
  const filled = { ...value };
  for (const [name, inner] of Object.entries(properties)) {
    if (filled[name] === undefined && isObject(inner) && inner['default'] !== undefined) filled[name] = structuredClone(inner['default']);
    if (filled[name] !== undefined) filled[name] = fill(filled[name], inner);
  }
  return filled;
}
