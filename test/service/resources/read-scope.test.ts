/** What is known of a policy whose spec cannot be used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { isUsable } from '../../../src/core/model/image-policy.ts';
import { readContext } from '../../harness/resource-group.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 };
const target = { kind: 'Deployment', name: 'my-java-app' };
const spec = { image: 'library/openjdk', select: { semver: {} }, targets: [target] };

test('the repository and the valid targets of an invalid spec are read all the same', () => {
  const scopeOf = (raw: object) => {
    const { spec: found } = readPolicy({ metadata, spec: { ...spec, ...raw } }, readContext);
    assert.ok(!isUsable(found), JSON.stringify(found));
    return found.scope;
  };
  const scope = {
    repository: { registry: 'docker.io', path: 'library/openjdk' },
    targets: [{ ...target, namespace: 'shop' }],
    strategy: {},
  };
  assert.deepEqual(scopeOf({ select: { semver: { range: '>>1' } } }), scope);
  assert.deepEqual(scopeOf({ select: {} }), scope);
  assert.deepEqual(scopeOf({ minAge: 'soon' }), scope);
  const strange = { apiVersion: 'example.com/v1', kind: 'Strange', name: 'a', fields: { tag: 'spec.secret' } };
  assert.deepEqual(scopeOf({ targets: [target, { kind: 'Pod', name: 'a' }, { kind: 'Deployment' }, strange, 'web'] }), scope);
  assert.deepEqual(scopeOf({ targets: [] }), { ...scope, targets: [] });
  assert.equal(scopeOf({ image: 'not an image' }), undefined);
  assert.equal(scopeOf({ image: 7 }), undefined);
});

test('a spec with more values than can be checked at once is not checked, and only its repository is read', () => {
  const values = Array.from({ length: 64 }, (_, index) => `v${index}`);
  const matchExpressions = Array.from({ length: 32 }, (_, index) => ({ key: `k${index}`, operator: 'NotIn', values }));
  const targets = Array.from({ length: 64 }, () => ({ kind: 'Deployment', selector: { matchExpressions } }));
  const context = readContext;
  const { spec: found } = readPolicy({ metadata, spec: { ...spec, targets } }, context);
  assert.ok(!isUsable(found));
  assert.match(found.problem.message, /^spec: holds more than 4096 values/);
  assert.deepEqual(found.scope?.targets, []);
  const containers = values.slice(0, 32);
  const many = Array.from({ length: 64 }, (_, index) => ({ kind: 'Deployment', name: `web-${index}`, containers }));
  const { spec: usable } = readPolicy({ metadata, spec: { ...spec, targets: many } }, context);
  assert.ok(isUsable(usable));
  assert.equal(usable.targets.length, 64);
});
