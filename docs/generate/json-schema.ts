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

/** The type of a field with its bounds: `list of string, 1–64 entries`. */
export function describeType(schema: JsonSchema): string {
  const { items, additionalProperties } = schema;
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(describeType))].join(' or ');
  const bounds = describeBounds(schema)
    .map((bound) => `, ${bound}`)
    .join('');
  if (items !== undefined) return `list of ${describeEntry(items)}${bounds}`;
  if (typeof additionalProperties === 'object') return `map of ${describeEntry(additionalProperties)}${bounds}`;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  return `${nameOf(schema)}${bounds}`;
}

function describeEntry(items: JsonSchema): string {
  const entry = describeType(items);
  return /,| or /.test(entry) ? `(${entry})` : entry;
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'time',
  duration: 'duration',
  uri: 'URL',
  ipv4: 'IP address',
  ipv6: 'IP address',
  cidrv4: 'CIDR',
  cidrv6: 'CIDR',
};

function nameOf({ type, format, properties }: JsonSchema): string {
  const known = formats[format ?? ''];
  if (known !== undefined) return known;
  if (type === 'object') {
    const names = Object.keys(properties ?? {});
    return names.length === 1 ? `\`{${names.join()}}\`` : 'object';
  }
  return String(type);
}

const unbounded = 9_007_199_254_740_991;

function describeBounds(schema: JsonSchema): string[] {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, exclusiveMinimum, maxProperties, pattern } = schema;
  const least = minimum === -unbounded ? undefined : minimum;
  const most = maximum === unbounded ? undefined : maximum;
  return [
    range(minLength, maxLength, 'characters'),
    range(minItems, maxItems, 'entries'),
    range(undefined, maxProperties, 'entries'),
    range(least, most, ''),
    exclusiveMinimum === undefined ? '' : `more than ${exclusiveMinimum}`,
    schema['x-kubernetes-list-type'] === 'set' ? 'each once' : '',
    pattern === undefined || schema.format !== undefined ? '' : `matching \`${pattern}\``,
  ].filter((bound) => bound !== '');
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return '';
  if (least === 1 && most === undefined && unit !== '') return 'not empty';
  const bounds = least === undefined ? `at most ${most}` : most === undefined ? `at least ${least}` : `${least}–${most}`;
  return unit === '' ? bounds : `${bounds} ${unit}`;
}
