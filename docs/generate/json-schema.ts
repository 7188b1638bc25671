/** The parts of JSON Schema that zod and structural schemas use. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | false;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}

/** One field of a schema. */
export interface Field {
  /** `spec.targets[].name`. */
  readonly path: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** All fields of a schema, outside in, in the order of the schema. Entries of a list are fields of their own only if they have fields. */
export function* fieldsOf(schema: JsonSchema, path: string, isRequired = false): Generator<Field> {
  if (path !== '') yield { path, schema, isRequired };
  yield* innerFields(schema, path);
}

function* innerFields(schema: JsonSchema, path: string): Generator<Field> {
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    yield* fieldsOf(inner, path === '' ? name : `${path}.${name}`, schema.required?.includes(name) ?? false);
  }
  if (schema.items !== undefined) yield* innerFields(schema.items, `${path}[]`);
}
