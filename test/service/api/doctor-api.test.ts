import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperationsAuth } from '../../../src/service/api/authenticate.ts';
import type { ServiceReport } from '../../../src/service/doctor/finding.ts';
import { eventTime, startApi } from './fake-events.ts';

const report: ServiceReport = { version: '1.0.0', checkedAt: '2026-03-01T12:00:00Z', findings: [], conversion: { why: 'off' } };
const url = '/api/v1/doctor';
const headers = { authorization: 'Bearer anns-token', host: 'localhost:9090' };

/** Ann may list policies there; `*` is all namespaces. */
function ann(...namespaces: string[]): OperationsAuth {
  return {
    kind: 'kubernetes',
    reviewToken: (token) => Promise.resolve(token === 'anns-token' ? { user: 'ann', groups: [] } : undefined),
    reviewAccess: (_caller, { verb, namespace = '*' }) => Promise.resolve(verb === 'list' && namespaces.includes(namespace)),
  };
}

/** A doctor that counts its reports, and ends them when it is told to. */
function countingDoctor(...namespaces: string[]) {
  const made = { count: 0, end: Promise.withResolvers<ServiceReport>() };
  const makeReport = () => {
    made.count++;
    return made.end.promise;
  };
  return { made, doctor: { makeReport, namespaces } };
}

test('simultaneous callers share one report of the doctor, which is reused for 20 s', async (t) => {
  const { made, doctor } = countingDoctor();
  let now = eventTime;
  const { app } = startApi(t, ann('*'), [], { doctor, elapsed: () => now });
  const asked = Array.from({ length: 30 }, () => app.inject({ url, headers }));
  made.end.resolve(report);
  for (const { statusCode, json } of await Promise.all(asked)) assert.deepEqual([statusCode, json()], [200, report]);
  now += 19_000;
  assert.equal((await app.inject({ url, headers })).statusCode, 200);
  assert.equal(made.count, 1);
  now += 2_000;
  const { headers: answered } = await app.inject({ url, headers });
  assert.equal(made.count, 2);
  assert.equal(answered['cache-control'], 'private, no-cache');
});

test('a caller who may not list all policies gets no report of the doctor, and causes none to be made', async (t) => {
  const { made, doctor } = countingDoctor();
  const { app } = startApi(t, ann('shop'), [], { doctor });
  const refused = await app.inject({ url, headers });
  assert.deepEqual([refused.statusCode, refused.json<{ detail: string }>().detail.includes('list imagepolicies')], [403, true]);
  assert.equal((await app.inject({ url, headers: { host: headers.host } })).statusCode, 401);
  assert.equal((await app.inject({ url, headers: { ...headers, authorization: 'Bearer other' } })).statusCode, 401);
  assert.equal(made.count, 0);
});

test('without the role work, a request for the report of the doctor is answered 503 with the reason', async (t) => {
  const { app } = startApi(t, ann('*'), []);
  const { statusCode, body } = await app.inject({ url, headers });
  assert.equal(statusCode, 503);
  assert.match(body, /role work/);
});

test('where few namespaces are watched, the right to list their policies is enough for the report of the doctor', async (t) => {
  const { made, doctor } = countingDoctor('shop', 'ops');
  made.end.resolve(report);
  const asks = async (auth: OperationsAuth) => (await startApi(t, auth, [], { doctor }).app.inject({ url, headers })).statusCode;
  assert.deepEqual([await asks(ann('shop', 'ops')), await asks(ann('shop')), await asks(ann('*'))], [200, 403, 200]);
  const many = countingDoctor(...Array.from({ length: 21 }, (_, index) => `n${index}`));
  const { app } = startApi(t, ann(...many.doctor.namespaces), [], { doctor: many.doctor });
  assert.equal((await app.inject({ url, headers })).statusCode, 403);
});
