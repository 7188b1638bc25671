/** What is known of a policy whose spec cannot be used. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../src/api-versions/read-policy.ts';
import { isUsable } from '../../src/model/image-policy.ts';

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7', generation: 3 };
const target = { kind: 'Deployment', name: 'my-java-app' };
const spec = { image: 'library/openjdk', select: { semver: {} }, targets: [target] };

test('what can be read of a spec that cannot be used is known all the same: its repository, and the targets that are in order', () => {
  const scopeOf = (raw: object) => {
    const { spec: found } = readPolicy({ metadata, spec: { ...spec, ...raw } }, { aliases: new Map(), customTargets: [] });
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
