import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { findTarget } from '../../../src/service/kube/targets.ts';
import type { KubeClient, KubeRequest } from '../../../src/service/kube/client.ts';
import { listPages, listPath, namespacePath, objectPath } from '../../../src/service/kube/objects.ts';

const deployments = { apiVersion: 'apps/v1', resource: 'deployments' };
const secrets = { apiVersion: 'v1', resource: 'secrets' };

test('paths are built for API groups and for the core group', () => {
  assert.equal(listPath(deployments), '/apis/apps/v1/deployments');
  assert.equal(listPath(deployments, 'shop'), '/apis/apps/v1/namespaces/shop/deployments');
  assert.equal(listPath(secrets, 'shop'), '/api/v1/namespaces/shop/secrets');
  assert.equal(namespacePath('shop'), '/api/v1/namespaces/shop');
  assert.equal(objectPath(secrets, 'shop', 'a.b-c'), '/api/v1/namespaces/shop/secrets/a.b-c');
});

const isRefusal = (error: unknown) => error instanceof PermanentError && error.reason === 'InvalidPolicy';

for (const name of ['', '.', '..', 'a/b', '../b', 'a?b', 'a#b', 'a%2fb', 'a b', 'x'.repeat(254)]) {
  test(`the name "${name.slice(0, 10)}" cannot address another object`, () => {
    assert.throws(() => objectPath(secrets, 'shop', name), isRefusal);
    assert.throws(() => objectPath(secrets, name, 'web'), isRefusal);
    assert.throws(() => namespacePath(name), isRefusal);
  });
}

test('the error for an unsupported kind names the supported ones', () => {
  assert.equal(findTarget({ kind: 'Deployment' }).resource, 'deployments');
  assert.throws(() => findTarget({ kind: 'Toaster' }), {
    reason: 'UnsupportedTargetKind',
    message: /^"Toaster" cannot be updated; supported kinds: Deployment/,
  });
});

test('the next page of a list is requested while the caller works on a page, and none after the last', async () => {
  const requests: unknown[] = [];
  const client: KubeClient = {
    request<T>({ query = {} }: KubeRequest): Promise<T> {
      requests.push(query['continue']);
      const more = requests.length < 3 ? { continue: `page-${requests.length + 1}` } : {};
      return Promise.resolve({ metadata: { resourceVersion: '7', ...more }, items: [requests.length] } as T);
    },
    streamLines: () => assert.fail('not used'),
    close: () => Promise.resolve(),
  };
  const requestsAt: [unknown, number][] = [];
  for await (const { items } of listPages(client, { path: listPath(deployments), pageSize: 1 }))
    requestsAt.push([items[0], requests.length]);
  assert.deepEqual(requestsAt, [
    [1, 2],
    [2, 3],
    [3, 3],
  ]);
  assert.deepEqual(requests, [undefined, 'page-2', 'page-3']);
});

test('a page that fails after the caller has stopped rejects nothing', async () => {
  const client: KubeClient = {
    request: <T>({ query = {} }: KubeRequest) =>
      query['continue'] === undefined
        ? Promise.resolve({ metadata: { resourceVersion: '7', continue: 'next' }, items: [1] } as T)
        : Promise.reject(new Error('broken')),
    streamLines: () => assert.fail('not used'),
    close: () => Promise.resolve(),
  };
  for await (const { items } of listPages(client, { path: listPath(deployments), pageSize: 1 })) {
    assert.deepEqual(items, [1]);
    break;
  }
});
