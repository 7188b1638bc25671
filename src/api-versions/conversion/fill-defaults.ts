import { toStructuralSchema } from '../structural-schema.ts';
import * as v1 from '../v1.ts';
import { isObject } from './read-json.ts';

/**
 * A v1 object with the defaults of the schema, as the API server fills them in when somebody writes v1; anything else as it is. The server does not do so after a
 * conversion: without this the first write of any kind would change the spec, count up the generation, and make its writer the owner of the defaults.
 */
export function fillDefaults(object: unknown): unknown {
  return isObject(object) && object['apiVersion'] === v1.apiVersion ? fill(object, schema) : object;
}

const schema = toStructuralSchema(v1.schema);

function fill(value: unknown, schema: unknown): unknown {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fill(item, schema['items']));
  const properties = schema['properties'];
  if (!isObject(value) || !isObject(properties)) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, inner] of Object.entries(properties)) {
    if (!Object.hasOwn(filled, name)) {
      if (!isObject(inner) || inner['default'] === undefined) continue;
      filled[name] = structuredClone(inner['default']);
    }
    filled[name] = fill(filled[name], inner);
  }
  return filled;
}
