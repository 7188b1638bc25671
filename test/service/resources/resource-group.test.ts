/** The API group without wings, and with those of the product. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '../../../src/conversion/definition.ts';
import { policyDefinition } from '../../../src/service/resources/definitions.ts';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import { asStored, groupOf, policiesAlone } from '../../../src/service/resources/resource-group.ts';
import { apiVersion } from '../../../src/service/resources/v1.ts';
import { isPolicy, validatePolicy } from '../../../src/service/resources/validate.ts';
import { readContext, resources } from '../../harness/resource-group.ts';

const metadata = { name: 'web', namespace: 'shop' };
const target = { kind: 'Deployment', name: 'web', namespace: 'shop' };
const v1 = { apiVersion, kind: 'ImagePolicy', metadata, spec: { image: 'library/nginx', select: { semver: {} }, targets: [target] } };
const v1alpha1 = {
  ...v1,
  apiVersion: 'operator.technomad.dev/v1alpha1',
  spec: { repository: 'library/nginx', tagPolicy: { strategy: 'SemVer' }, updateTarget: target },
};
const linesOf = (document: unknown, known: typeof resources) =>
  validatePolicy(document, known).map(({ path, message }) => `${path}: ${message}`);

test('the wings add three kinds and an older version', () => {
  assert.deepEqual(
    resources.kinds.map(({ kind }) => kind),
    ['BaseImagePolicy', 'BaseImageRecord', 'NotificationTarget'],
  );
  assert.deepEqual(
    resources.olderVersions.map(({ version }) => version),
    ['v1alpha1'],
  );
  assert.deepEqual(linesOf(v1, resources), []);
  assert.deepEqual(linesOf(v1alpha1, resources), []);
});

test('a kind that only the service writes is a problem in a manifest', () => {
  const record = { apiVersion, kind: 'BaseImageRecord', metadata: { name: 'java-1' }, spec: { versions: [] } };
  assert.deepEqual(linesOf(record, resources), ['kind: BaseImageRecord is written by image-watcher alone: remove it from the manifests']);
  const [other] = linesOf({ ...record, kind: 'BaseImage' }, resources);
  assert.match(other ?? '', /^kind: the group \S+ has only the kinds ImagePolicy, BaseImagePolicy, and NotificationTarget$/);
});

test('without wings, the API group contains ImagePolicy v1 alone', async () => {
  assert.deepEqual(await groupOf([]), policiesAlone);
  assert.deepEqual(linesOf(v1, policiesAlone), []);
  const [version = '', ...others] = linesOf(v1alpha1, policiesAlone);
  assert.match(
    version,
    /^apiVersion: "operator\.technomad\.dev\/v1alpha1" is not operator\.technomad\.dev\/v1, the only version of ImagePolicy$/,
  );
  assert.notDeepEqual(others, []);
  const base = { apiVersion, kind: 'BaseImagePolicy', metadata, spec: {} };
  assert.match(linesOf(base, policiesAlone)[0] ?? '', /^kind: the group operator\.technomad\.dev has only the kind ImagePolicy$/);
  assert.equal(isPolicy({ kind: 'BaseImagePolicy' }, policiesAlone), false);
  assert.equal(isPolicy({ kind: 'BaseImagePolicy' }, resources), true);
});

test('without the wing conversion, the definition equals the output of crd print --v1-only', () => {
  assert.deepEqual(policiesAlone.policyDefinition(undefined), policyDefinition());
  assert.deepEqual(policyDefinition(), customResourceDefinition({ v1Only: true }));
  assert.deepEqual(
    resources.policyDefinition(undefined).spec.versions.map(({ name }) => name),
    ['v1', 'v1alpha1'],
  );
});

test('an object of an older version is converted to what the API server stores, and one of v1 stays unchanged', () => {
  const stored = asStored(v1alpha1, resources.olderVersions);
  assert.equal(stored['apiVersion'], apiVersion);
  const identity = { ...metadata, uid: 'u', resourceVersion: '1' };
  const { spec } = readPolicy({ ...stored, metadata: identity }, readContext);
  assert.ok(!('problem' in spec), JSON.stringify(spec));
  assert.deepEqual([spec.repository.path, spec.targets[0]?.name], ['library/nginx', 'web']);
  assert.deepEqual(asStored(v1, resources.olderVersions), v1);
});
