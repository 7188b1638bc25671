/** The document that describes the API, checked by the linter of Redocly. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describeApi } from '../../../src/service/api/openapi.ts';
import { createActivityRoutes } from '../../../src/activity/routes.ts';
import { createBaseRoutes } from '../../../src/bases/api/routes.ts';
import { routes as own } from '../../../src/service/api/routes/index.ts';
import { startApi } from './fake-events.ts';

const added = { features: ['activity', 'bases'], routes: [...createActivityRoutes(undefined), ...createBaseRoutes(undefined)] };
const routes = [...own, ...added.routes];

test('the document has no finding of the linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const findings = await lintFromString({ source: JSON.stringify(describeApi(routes, '1.0.0')), config });
  assert.deepEqual(
    findings.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`),
    [],
  );
});

test('the document names every route once, with all of its parameters', async (t) => {
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
