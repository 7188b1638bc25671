/** The errors of the API as programs read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, problemKinds, problemSchema } from '../../../src/service/api/problem.ts';
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
  ['POST', '/api/v1/policies/shop/ready/rollback', { ...known, ...json, body: 'x'.repeat(5_000) }, 413, 'TooLarge', undefined],
] as const)
  test(`${method} ${url} is answered with ${code}${status === 401 ? ' without a token' : ''}`, async (t) => {
    const { app } = startApi(t, ann('get shop', 'list shop'), [], { policies: samplePorts([]) });
    const { body: payload, ...sent }: Record<string, string> = { ...headers };
    const answer = await app.inject({ method, url, headers: sent, ...(payload !== undefined && { payload }) });
    assert.match(answer.headers['content-type']?.toString() ?? '', /^application\/problem\+json/);
    const problem = problemSchema.strict().parse(answer.json());
    assert.deepEqual([answer.statusCode, problem.status, problem.code, answer.headers.allow], [status, status, code, allow]);
    assert.notEqual(problem.detail, '');
  });

test('each status has one code, and a status without one has that of its class', () => {
  const statuses = Object.values(problemKinds).map(({ status }) => status);
  assert.equal(new Set(statuses).size, statuses.length);
  assert.deepEqual([codeOf(418), codeOf(502)], ['InvalidRequest', 'Unavailable']);
});
