import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../src/model/errors.ts';
import { findTarget } from '../../src/kube/targets.ts';
import { listPath, namespacePath, objectPath } from '../../src/kube/objects.ts';

const deployments = { apiVersion: 'apps/v1', resource: 'deployments' };
const secrets = { apiVersion: 'v1', resource: 'secrets' };

test('builds paths for groups and for the core', () => {
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
