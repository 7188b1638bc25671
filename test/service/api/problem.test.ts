/** The errors of the API as programs read them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentation } from '../../../src/core/model/reasons.ts';
import { codeOf, problemKinds, problemSchema, toProblem } from '../../../src/service/api/problem.ts';
import { startApi } from './fake-events.ts';
import { ann, samplePorts } from './sample-policies.ts';

const known = { host: 'localhost:9090', authorization: 'Bearer anns-token' };
const json = { 'content-type': 'application/json' };

for (const [method, url, headers, status, code, allow] of [
  ['GET', '/api/v1/policies?state=Lost', known, 400, 'InvalidRequest', undefined],
  ['GET', '/api/v1/policies', { host: 'localhost:9090' }, 401, 'Unauthenticated', undefined],
  ['GET', '/api/v1/policies/ops/other', known, 403, 'Forbidden', undefined],
  ['GET', '/api/v1/policies/shop/nobody', known, 404, 'NotFound', undefined],
  ['GET', '/api/v1/nowhere', known, 404, 'NotFound', undefined],
  ['GET', '/api/nowhere?x=1', known, 404, 'NotFound', undefined],
  ['GET', '/api/v1/nowhere', { host: 'localhost:9090' }, 401, 'Unauthenticated', undefined],
  ['DELETE', '/api/v1/policies/shop/web', known, 405, 'MethodNotAllowed', 'GET, HEAD'],
  ['GET', '/api/v1/policies/shop/web/check', known, 405, 'MethodNotAllowed', 'POST'],
  ['POST', '/api/v1/policies/shop/web/check', known, 415, 'UnsupportedMediaType', undefined],
  ['GET', '/api/v1/policies/%zz/web', { host: 'localhost:9090' }, 400, 'InvalidRequest', undefined],
  ['GET', `/api/v1/policies/shop/${'a'.repeat(254)}`, known, 400, 'InvalidRequest', undefined],
  ['POST', '/api/v1/policies', known, 405, 'MethodNotAllowed', 'GET, HEAD'],
  ['QUERY', '/api/v1/policies', known, 405, 'MethodNotAllowed', 'GET, HEAD'],
  ['PUT', '/api/v1/nowhere', { ...known, body: 'x'.repeat(5_000) }, 404, 'NotFound', undefined],
  ['DELETE', '/api/v1/openapi.json', known, 405, 'MethodNotAllowed', 'GET, HEAD'],
  ['POST', '/api/v1/policies/shop/ready/rollback', { ...known, ...json, body: 'x'.repeat(5_000) }, 413, 'TooLarge', undefined],
] as const)
  test(`${method} ${url} is answered with the error ${code}${status === 401 ? ' without a token' : ''}`, async (t) => {
    const { app } = startApi(t, ann('get shop', 'list shop'), [], { policies: samplePorts([]) });
    const { body: payload, ...sent }: Record<string, string> = { ...headers };
    const answer = await app.inject({ method: method as 'GET', url, headers: sent, ...(payload !== undefined && { payload }) });
    assert.match(answer.headers['content-type']?.toString() ?? '', /^application\/problem\+json/);
    const problem = problemSchema.strict().parse(answer.json());
    assert.deepEqual([answer.statusCode, problem.status, problem.code, answer.headers.allow], [status, status, code, allow]);
    assert.notEqual(problem.detail, '');
  });

test('HEAD of an unknown path has the status and the type of the error, without a body', async (t) => {
  const { app } = startApi(t, ann(), []);
  const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: '/api/v1/nowhere', headers: known });
  assert.deepEqual([statusCode, body], [404, '']);
  assert.match(headers['content-type']?.toString() ?? '', /^application\/problem\+json/);
});

for (const [query, detail] of [
  ['colour=red', 'colour: is not known here; /api/v1/openapi.json lists what is'],
  ['__proto__=1', '__proto__: is not known here; /api/v1/openapi.json lists what is'],
  ['namespace[]=shop', 'namespace[]: is not known here; /api/v1/openapi.json lists what is'],
  [`${'x'.repeat(9_000)}=1&y=2`, `${'x'.repeat(63)}…: is not known here; /api/v1/openapi.json lists what is`],
  ['limit=5&limit=6', 'limit: is given more than once'],
  ['state=Failed&state=Ready', 'state: is given more than once'],
] as const)
  test(`the error for ?${query.slice(0, 30)} says what is wrong, and stays short`, async (t) => {
    const { app } = startApi(t, ann('list shop'), [], { policies: samplePorts([]) });
    const answer = await app.inject({ url: `/api/v1/policies?${query}`, headers: known });
    assert.deepEqual([answer.statusCode, problemSchema.parse(answer.json()).detail], [400, detail]);
  });

test('an error that repeats what the caller sent is cut', () => {
  assert.equal(toProblem(400, 'x'.repeat(5_000)).detail.length, 1_024);
});

test('every error links to a section of the documentation that exists and explains its code', () => {
  const { docs } = toProblem(404, 'gone');
  assert.ok(docs.startsWith(`${documentation}/`));
  const [path = '', anchor = ''] = docs.slice(documentation.length + 1).split('#');
  const page = readFileSync(join(import.meta.dirname, '../../../docs', path), 'utf8');
  assert.equal(anchor, 'errors');
  const [, section = ''] = page.split('\n## Errors\n');
  for (const code of Object.keys(problemKinds)) assert.ok(section.includes(`\`${code}\``), code);
});

test('each status has one code, and a status without one has that of its class', () => {
  const statuses = Object.values(problemKinds).map(({ status }) => status);
  assert.equal(new Set(statuses).size, statuses.length);
  assert.deepEqual([codeOf(418), codeOf(502)], ['InvalidRequest', 'Unavailable']);
});
