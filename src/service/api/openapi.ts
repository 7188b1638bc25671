/** Makes the OpenAPI document from the routes. Pure. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import recorded from './examples.json' with { type: 'json' };
import { codeOf, problemKinds, problemSchema, problemType, toProblem } from './problem.ts';
import { routeGroups, type Route } from './route.ts';

type Json = { readonly [key: string]: unknown };

/** A request to a route, and its answer. */
export interface Example {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: object;
  readonly answer: unknown;
}
/** The examples of routes by their ids. */
export type Examples = Readonly<Record<string, Example | undefined>>;

/** Describes the routes in OpenAPI 3.1, whose schemas are JSON Schema. The examples are those that were recorded of the routes, unless given. */
export function describeApi(routes: readonly Route[], version: string, examples: Examples = recorded): Json {
  const asked = convert(Object.fromEntries(routes.flatMap(partsOf)), 'input');
  const answered = convert(
    { Problem: problemSchema, ...Object.fromEntries(routes.filter(isJson).map(({ id, answer }) => [id, answer])) },
    'output',
  );
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes)
    (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route, { asked, answered }, examples[route.id]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'image-watcher',
      version,
      description:
        'What image-watcher selects and changes, and why. Answers show what the caller may see by his permissions on imagepolicies.operator.technomad.dev, and for bases on baseimagepolicies and baseimagerecords of the same group. GET answers have an ETag.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/api/v1', description: 'The operations listener.' }],
    security: [{ token: [] }],
    tags: Object.entries(routeGroups)
      .filter(([name]) => routes.some(({ group }) => group === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token that the API server knows (operations.auth: kubernetes). With operations.auth: proxy, the proxy authenticates callers.',
        },
      },
      schemas: { ...answered.named, ...asked.named },
      responses: Object.fromEntries(
        Object.entries(problemKinds)
          .filter(([, { status }]) => routes.some((route) => errorsOf(route).includes(status)))
          .map(([code, { status, about }]) => [code, errorResponse(status, about)]),
      ),
    },
  };
}

/** The statuses of the errors of a route. */
function errorsOf({ method, errors = [] }: Route): readonly number[] {
  return [400, 401, 403, ...errors, ...(method === 'POST' ? [413, 415] : []), 429, 503];
}

function errorResponse(status: number, description: string): Json {
  const example = toProblem(status, description);
  return { description, content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' }, example } } };
}

function isJson({ media }: Route): boolean {
  return media === undefined;
}

/** The schemas of what a request has, by names that are unique in the document. */
function partsOf({ id, params, query, body }: Route): [string, z.ZodType][] {
  const of = (place: string, schema: z.ZodObject | undefined) =>
    Object.entries(schema?.shape ?? {}).map(([name, one]): [string, z.ZodType] => [partName(id, place, name), one as z.ZodType]);
  return [
    ...of('path', params),
    ...of('query', query),
    ...(body === undefined ? [] : [[partName(id, 'body'), body] as [string, z.ZodType]]),
  ];
}

function partName(id: string, ...parts: readonly string[]): string {
  return [id, ...parts].join(' ');
}

interface Schemas {
  readonly asked: Converted;
  readonly answered: Converted;
}

function describeRoute(route: Route, { asked, answered }: Schemas, example: Example | undefined): Json {
  const { id, group, summary, about, params, query, body, media = 'application/json', status = 200 } = route;
  const answers = errorsOf(route).map((code) => [code, { $ref: `#/components/responses/${codeOf(code)}` }]);
  const parametersOf = (schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] =>
    Object.keys(schema?.shape ?? {}).map((name) => {
      const part = partName(id, place, name);
      const { description, ...rest } = asked.of[part] ?? {};
      const value = (place === 'path' ? example?.params : example?.query)?.[name];
      return {
        name,
        in: place,
        required: place === 'path' || asked.required.includes(part),
        ...(typeof description === 'string' && { description }),
        schema: rest,
        ...defined({ example: value }),
      };
    });
  return {
    operationId: id,
    tags: [group],
    summary,
    description: about,
    parameters: [...parametersOf(params, 'path'), ...parametersOf(query, 'query')],
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: asked.of[partName(id, 'body')], ...defined({ example: example?.body }) } },
      },
    }),
    responses: {
      [status]: {
        description: status === 202 ? 'Accepted.' : 'The answer.',
        content: { [media]: { schema: isJson(route) ? answered.of[id] : { type: 'string' }, ...defined({ example: example?.answer }) } },
      },
      ...Object.fromEntries(answers),
    },
  };
}

interface Converted {
  /** The converted schemas, by their names in the document. */
  readonly of: Readonly<Record<string, Json>>;
  /** The names of the properties that are required. */
  readonly required: readonly string[];
  /** The schemas that have an id, which are referred to by it. */
  readonly named: Json;
}

/**
 * Converts schemas. Each schema with an `id` in its metadata becomes a component. Objects of answers allow unknown fields, because a later version may add some.
 */
function convert(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Converted {
  const found = z.toJSONSchema(z.object(schemas), {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      // To OpenAPI, what is read-only is not sent by callers: generators then make two types of the object that has it.
      delete jsonSchema.readOnly;
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  const {
    properties,
    required = [],
    $defs = {},
  } = JSON.parse(JSON.stringify(found).replaceAll('"#/$defs/', '"#/components/schemas/')) as {
    readonly properties: Record<string, Json>;
    readonly required?: string[];
    readonly $defs?: Json;
  };
  return { of: properties, required, named: $defs };
}
