/** Makes the OpenAPI document from the routes. Pure. */
import { z } from 'zod';
import { codeOf, problemKinds, problemSchema, problemType } from './problem.ts';
import { routeGroups, type Route } from './route.ts';

type Json = { readonly [key: string]: unknown };

/** Describes the routes in OpenAPI 3.1, whose schemas are JSON Schema. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = describeRoute(route);
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
      schemas: {
        Problem: toSchema(problemSchema, 'output'),
      },
      responses: Object.fromEntries(
        Object.entries(problemKinds)
          .filter(([, { status }]) => routes.some((route) => errorsOf(route).includes(status)))
          .map(([code, { about }]) => [code, errorResponse(about)]),
      ),
    },
  };
}

/** The statuses of the errors of a route. */
function errorsOf({ method, errors = [] }: Route): readonly number[] {
  return [400, 401, 403, ...errors, ...(method === 'POST' ? [413, 415] : []), 429, 503];
}

function errorResponse(description: string): Json {
  return { description, content: { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } } };
}

function describeRoute(route: Route): Json {
  const { id, group, summary, about, params, query, body, answer, media, status = 200 } = route;
  const answers = errorsOf(route).map((code) => [code, { $ref: `#/components/responses/${codeOf(code)}` }]);
  return {
    operationId: id,
    tags: [group],
    summary,
    description: about,
    parameters: [...parametersOf(params, 'path'), ...parametersOf(query, 'query')],
    ...(body !== undefined && { requestBody: { required: true, content: { 'application/json': { schema: toSchema(body, 'input') } } } }),
    responses: {
      [status]: {
        description: status === 202 ? 'Accepted.' : 'The answer.',
        content:
          media === undefined
            ? { 'application/json': { schema: toSchema(answer, 'output') } }
            : { [media]: { schema: { type: 'string' } } },
      },
      ...Object.fromEntries(answers),
    },
  };
}

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = toSchema(schema, 'input') as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: rest,
    };
  });
}

/** Converts a schema. Objects of answers allow unknown fields, because a later version may add some. */
function toSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...found } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (io === 'output') delete jsonSchema.additionalProperties;
    },
  });
  return JSON.parse(JSON.stringify(found)) as Json;
}
