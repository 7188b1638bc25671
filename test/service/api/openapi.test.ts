/** The document that describes the API, checked by the linter of Redocly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { z } from 'zod';
import examples from '../../../src/service/api/examples.json' with { type: 'json' };
import { describeApi, type Example } from '../../../src/service/api/openapi.ts';
import { problemSchema, problemType } from '../../../src/service/api/problem.ts';
import { createActivityRoutes } from '../../../src/activity/routes.ts';
import { createTargetRoutes } from '../../../src/notify/routes.ts';
import { createBaseRoutes } from '../../../src/bases/api/routes.ts';
import { routes as own } from '../../../src/service/api/routes/index.ts';
import { startApi } from './fake-events.ts';

const added = {
  features: ['activity', 'bases', 'notify'],
  routes: [...createActivityRoutes(undefined), ...createBaseRoutes(undefined), ...createTargetRoutes(undefined)],
};
const routes = [...own, ...added.routes];

test('the OpenAPI document has no finding of the linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const findings = await lintFromString({ source: JSON.stringify(describeApi(routes, '1.0.0')), config });
  assert.deepEqual(
    findings.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`),
    [],
  );
});

test('the OpenAPI document names every route once, with all of its parameters', async (t) => {
  const { app } = startApi(t, { kind: 'none' }, [], { added });
  const { statusCode, json } = await app.inject({ url: '/api/v1/openapi.json', headers: { host: 'localhost' } });
  assert.equal(statusCode, 200);
  const { paths } = json<{ paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>> }>();
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`),
  );
  assert.deepEqual(described.toSorted(), routes.map(({ method, path, id }) => `${method} ${path} ${id}`).toSorted());
  assert.equal(new Set(routes.map(({ id }) => id)).size, routes.length);
  for (const { path, method, query, params } of routes) {
    const names = paths[path]?.[method.toLowerCase()]?.parameters.map(({ name, in: place }) => `${place} ${name}`);
    const expected = [
      ...Object.keys(params?.shape ?? {}).map((name) => `path ${name}`),
      ...Object.keys(query?.shape ?? {}).map((name) => `query ${name}`),
    ];
    assert.deepEqual(names, expected, path);
  }
});

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [other: string]: unknown;
}
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly description?: string; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, { readonly content: Content }>>;
  };
}

/** The statuses of the resources, whose parts are those of the CustomResourceDefinitions. */
const resources = ['PolicyStatus', 'BaseStatus'];

test('every body, answer and list entry of the OpenAPI document has a schema with a name', () => {
  const { paths, components } = describeApi(routes, '1.0.0') as unknown as Document;
  const unnamed: string[] = [];
  for (const { operationId, requestBody, responses } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
      if (content['application/json'] !== undefined && content['application/json'].schema.$ref === undefined) unnamed.push(operationId);
  const lookInto = (schema: Schema, place: string) => {
    if (schema.items?.properties !== undefined) unnamed.push(place);
    for (const [name, one] of Object.entries(schema.properties ?? {})) lookInto(one, `${place}.${name}`);
  };
  for (const [name, schema] of Object.entries(components.schemas)) if (!resources.includes(name)) lookInto(schema, name);
  assert.deepEqual(unnamed, []);
});

test('every route of the API has an example that fits its schemas, without unknown fields', () => {
  assert.deepEqual(Object.keys(examples).toSorted(), routes.map(({ id }) => id).toSorted());
  for (const { id, params, query, body, answer, media } of routes) {
    const example: Example = examples[id as keyof typeof examples];
    for (const [schema, part] of [
      [params, example.params],
      [query, example.query],
      [body, example.body],
    ] as const)
      assert.ok((schema ?? z.object({})).strict().safeParse(part ?? {}).success, `${id}: ${JSON.stringify(part)}`);
    // Parsing leaves out what a schema does not have.
    if (media === undefined) assert.deepEqual(answer.parse(example.answer), example.answer, id);
  }
});

test('every parameter in the OpenAPI document has a description', () => {
  const { paths } = describeApi(routes, '1.0.0') as unknown as Document;
  const parameters = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap((one) => one.parameters.map((parameter) => ({ ...parameter, of: one.operationId }))),
  );
  assert.deepEqual(
    parameters.filter(({ description }) => description === undefined).map(({ of, name }) => `${of} ${name}`),
    [],
  );
});

test('the OpenAPI document has the example of each parameter, body, answer and error', () => {
  const { paths, components } = describeApi(routes, '1.0.0') as unknown as Document;
  for (const { operationId, parameters, requestBody, responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { params = {}, query = {}, body, answer }: Example = examples[operationId as keyof typeof examples];
    const shown = parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]]));
    assert.deepEqual(Object.fromEntries(shown), { ...params, ...query }, operationId);
    const [content] = Object.values((responses['200'] ?? responses['202'])?.content ?? {});
    assert.deepEqual([content?.example, requestBody?.content['application/json']?.example], [answer, body], operationId);
  }
  for (const [code, { content }] of Object.entries(components.responses))
    assert.equal(problemSchema.strict().parse(content[problemType]?.example).code, code);
});

test('a part that the product lacks leaves no schema in the OpenAPI document', () => {
  const { components } = describeApi(own, '1.0.0') as unknown as Document;
  assert.deepEqual(
    Object.keys(components.schemas).filter((name) => /Base|Dependent|Activity/.test(name)),
    [],
  );
});
