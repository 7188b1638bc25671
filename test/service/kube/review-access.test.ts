import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeClient } from '../../../src/service/kube/client.ts';
import { isKubeError } from '../../../src/service/kube/kube-error.ts';
import {
  findMissingAccess,
  type ResourceAccess,
  reviewAccess,
  reviewOwnAccess,
  reviewToken,
} from '../../../src/service/kube/review-access.ts';
import { startFakeApiServer, type FakeApiServer } from './fake-api-server.ts';

// What a real API server answers is in test/end-to-end/events.test.ts.
let server: FakeApiServer;
let client: KubeClient;
before(async () => {
  server = await startFakeApiServer();
  client = server.client();
});
after(() => server.stop());

const caller = { user: 'ann', groups: ['shop'], uid: '1', extra: { scopes: ['a'] } };
const get = { group: 'operator.technomad.dev', resource: 'imagepolicies', verb: 'get', namespace: 'shop' };

test('an access review contains everything that is known about the user', async () => {
  server.handle((exchange) => exchange.json(201, { status: { allowed: true } }));
  assert.equal(await reviewAccess(client, caller, get), true);
  const body = JSON.parse(server.exchanges.at(-1)?.body ?? '') as { spec: unknown };
  assert.deepEqual(body.spec, { user: 'ann', groups: ['shop'], uid: '1', extra: { scopes: ['a'] }, resourceAttributes: get });
});

for (const status of [undefined, {}, { allowed: false, denied: true }, { allowed: 'yes' }]) {
  test(`access is denied when the status of the review is ${JSON.stringify(status)}`, async () => {
    server.handle((exchange) => exchange.json(201, { status }));
    assert.equal(await reviewAccess(client, caller, get), false);
  });
}

for (const status of [
  undefined,
  {},
  { authenticated: false, user: { username: 'ann' } },
  { authenticated: true },
  { authenticated: true, user: {} },
]) {
  test(`the token is rejected when the status of the review is ${JSON.stringify(status)}`, async () => {
    server.handle((exchange) => exchange.json(201, { status }));
    assert.equal(await reviewToken(client, 'token'), undefined);
  });
}

test('without permission to review, or without an answer, a token or an access is neither accepted nor rejected', async () => {
  server.handle((exchange) => exchange.json(403, { kind: 'Status', message: 'tokenreviews is forbidden' }));
  await assert.rejects(reviewToken(client, 'token'), (error) => isKubeError(error, 403));
  server.handle((exchange) => exchange.reset());
  await assert.rejects(reviewAccess(client, caller, get), /subjectaccessreviews/);
});

test('the missing permissions of a set of rules are found with one review for each verb, resource and name', async () => {
  const questions: ResourceAccess[] = [];
  const rules = [
    { apiGroups: ['apps'], resources: ['deployments', 'deployments/scale'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] },
  ];
  const missing = await findMissingAccess(rules, 'shop', async (access) => {
    questions.push(access);
    return access.verb === 'get' && access.name !== 'b';
  });
  assert.deepEqual(missing, ['patch deployments.apps', 'patch deployments/scale.apps', 'get secrets b']);
  assert.equal(questions.length, 6);
  assert.deepEqual(questions[2], {
    group: 'apps',
    resource: 'deployments',
    subresource: 'scale',
    verb: 'get',
    name: undefined,
    namespace: 'shop',
  });
  await assert.rejects(
    findMissingAccess(rules, undefined, () => Promise.reject(new Error('no answer'))),
    /no answer/,
  );
});

test('a process reviews its own rights with a SelfSubjectAccessReview', async () => {
  server.handle((exchange) => exchange.json(201, { status: { allowed: true } }));
  assert.equal(await reviewOwnAccess(client, get), true);
  const body = JSON.parse(server.exchanges.at(-1)?.body ?? '') as { kind: string; spec: unknown };
  assert.deepEqual([body.kind, body.spec], ['SelfSubjectAccessReview', { resourceAttributes: get }]);
});
