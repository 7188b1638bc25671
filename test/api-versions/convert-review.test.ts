import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertReview } from '../../src/api-versions/convert-review.ts';
import { down, oldPolicy, v1, v1Policy, v1alpha1 } from './objects.ts';

const plain = { image: 'nginx', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' };
const ask = (request: unknown) => convertReview({ ...review, request });

test('the answer has the uid of the question and the objects in their order', () => {
  const objects = [v1Policy(plain), oldPolicy(undefined), v1Policy(undefined)];
  const { status, body } = ask({ uid: 'u-1', desiredAPIVersion: v1alpha1, objects });
  assert.equal(status, 200);
  const response = { uid: 'u-1', convertedObjects: [down(objects[0]), objects[1], oldPolicy(undefined)], result: { status: 'Success' } };
  assert.deepEqual(JSON.parse(JSON.stringify(body)), { ...review, response });
});

test('one poisoned object among thousands does not spoil the others', () => {
  const poison = [{}, null, 5, { apiVersion: 'x/v1' }, { apiVersion: v1, metadata: 7, spec: [] }, v1Policy('spec', { status: 'status' })];
  const objects = Array.from({ length: 3_000 }, (_, index) => (index % 2 === 0 ? v1Policy(plain) : poison[(index >> 1) % poison.length]));
  const { body } = ask({ uid: 'u-1', desiredAPIVersion: v1alpha1, objects });
  const { response } = body as { response: { convertedObjects: unknown[]; result: unknown } };
  assert.deepEqual(response.result, { status: 'Success' });
  assert.equal(response.convertedObjects.length, objects.length);
  assert.deepEqual(JSON.parse(JSON.stringify(response.convertedObjects[2_998])), down(v1Policy(plain)));
});

const failures: [name: string, request: unknown, message: RegExp][] = [
  ['an unknown version', { uid: 'u', desiredAPIVersion: 'operator.technomad.dev/v2', objects: [] }, /write operator.technomad.dev\/v1 or/],
  ['an unknown version of something', { uid: 'u', desiredAPIVersion: 'apps/v1', objects: [v1Policy(plain)] }, /no API version "apps\/v1"/],
  ['no version', { uid: 'u', objects: [] }, /desiredAPIVersion/],
  ['no objects', { uid: 'u', desiredAPIVersion: v1 }, /objects/],
  ['objects that are no list', { uid: 'u', desiredAPIVersion: v1, objects: {} }, /objects/],
];

for (const [name, request, message] of failures) {
  test(`a review that cannot be carried out fails as a review: ${name}`, () => {
    const { status, body } = ask(request);
    const { response } = body as { response: { uid: string; result: { status: string; message: string } } };
    assert.deepEqual([status, response.uid, response.result.status], [200, 'u', 'Failure']);
    assert.match(response.result.message, message);
  });
}

test('what is no review is refused', () => {
  const bodies = [undefined, null, 'x', [], {}, review, { ...review, request: null }, { ...review, request: { uid: 5 } }];
  for (const body of [
    ...bodies,
    { ...review, apiVersion: 'apiextensions.k8s.io/v1beta1', request: { uid: 'u' } },
    { ...review, kind: 'Review' },
  ])
    assert.equal(convertReview(body).status, 400);
});

test('any JSON is answered', () => {
  const request = fc.record({ uid: fc.jsonValue(), desiredAPIVersion: fc.constantFrom(v1, v1alpha1, 5, null), objects: fc.jsonValue() });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.jsonValue(),
        request.map((request) => ({ ...review, request })),
      ),
      (body) => {
        assert.ok([200, 400].includes(convertReview(body).status));
      },
    ),
  );
});
