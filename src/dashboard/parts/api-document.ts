/** The OpenAPI document as the reference of the API shows it. Pure. */
import { z } from 'zod';

const simple = z.union([z.string(), z.number(), z.boolean()]);

/** A part of JSON Schema. */
const schema = z.object({
  $ref: z.string().optional(),
  type: z.string().optional(),
  description: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  default: simple.optional(),
  required: z.array(z.string()).default([]),
  get items() {
    return schema.optional();
  },
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get additionalProperties() {
    return schema.optional();
  },
  get oneOf() {
    return z.array(schema).optional();
  },
  get anyOf() {
    return z.array(schema).optional();
  },
});
export type Schema = z.output<typeof schema>;

const content = z.record(z.string(), z.object({ schema, example: z.unknown().optional() }));
const answer = z.object({ description: z.string(), content: content.optional() });
const operation = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(
    z.object({
      name: z.string(),
      in: z.string(),
      required: z.boolean(),
      description: z.string().optional(),
      schema,
      example: simple.optional(),
    }),
  ),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.union([answer, z.object({ $ref: z.string() })])),
});

const document = z.object({
  info: z.object({ description: z.string(), version: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema), responses: z.record(z.string(), answer) }),
});
export type ApiDocument = z.output<typeof document>;

/** The path of the document and the parts of it that are shown. */
export const apiDocument = { path: '/openapi.json', answer: document } as const;

export interface Operation extends z.output<typeof operation> {
  /** `GET` or `POST`. */
  readonly method: string;
  /** The path below the host, with the names of its parameters in braces. */
  readonly path: string;
}

/** All operations, in their order. */
export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path: `/api/v1${path}` })),
  );
}

/** The name of the component that a reference leads to. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** The schemas with a name that some schemas refer to, directly or through others, each once. */
export function namedIn(roots: readonly Schema[], { components }: ApiDocument): [name: string, schema: Schema][] {
  const found = new Map<string, Schema>();
  const lookInto = (one: Schema) => {
    const name = one.$ref && nameOf(one.$ref);
    const target = name === undefined || found.has(name) ? undefined : components.schemas[name];
    if (name !== undefined && target !== undefined) lookInto(found.set(name, target).get(name) ?? target);
    for (const part of partsOf(one)) lookInto(part);
  };
  for (const root of roots) lookInto(root);
  return [...found];
}

function partsOf({ items, properties = {}, additionalProperties, oneOf = [], anyOf = [] }: Schema): Schema[] {
  return [items, additionalProperties, ...Object.values(properties), ...oneOf, ...anyOf].filter((one) => one !== undefined);
}

/** A field of an object, or of an object inside of it. */
export interface Field {
  /** The names on the way to it: `waiting.until`, `history[].tag`. */
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The fields of an object, and of the objects without a name inside of it. */
export function fieldsOf({ properties = {}, required }: Schema, before = ''): Field[] {
  return Object.entries(properties).flatMap(([name, one]) => {
    const path = `${before}${name}`;
    const inner = one.items?.properties === undefined ? fieldsOf(one, `${path}.`) : fieldsOf(one.items, `${path}[].`);
    return [{ path, schema: one, isRequired: required.includes(name) }, ...inner];
  });
}
