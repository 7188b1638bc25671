import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertReview } from '../../src/conversion/convert-review.ts';
import { down, oldPolicy, v1, v1Policy, v1alpha1 } from '../service/resources/objects.ts';

const plain = { image: 'nginx', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] };
const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' };
const ask = async (request: unknown) => {
  const { status, text } = await convertReview({ ...review, request });
  return { status, body: JSON.parse(text) as { response: { uid: string; convertedObjects: unknown[]; result: Record<string, string> } } };
};

test('the answer has the uid of the request and the objects in their order', async () => {
  const objects = [v1Policy(plain), oldPolicy(undefined), v1Policy(undefined)];
  const { status, body } = await ask({ uid: 'u-1', desiredAPIVersion: v1alpha1, objects });
  assert.equal(status, 200);
  const response = { uid: 'u-1', convertedObjects: [down(objects[0]), objects[1], oldPolicy(undefined)], result: { status: 'Success' } };
  assert.deepEqual(body, { ...review, response });
});

test('one poisoned object among thousands does not affect the others', async () => {
  const poison = [{}, null, 5, { apiVersion: 'x/v1' }, { apiVersion: v1, metadata: 7, spec: [] }, v1Policy('spec', { status: 'status' })];
  const objects = Array.from({ length: 3_000 }, (_, index) => (index % 2 === 0 ? v1Policy(plain) : poison[(index >> 1) % poison.length]));
  const { body } = await ask({ uid: 'u-1', desiredAPIVersion: v1alpha1, objects });
  const { response } = body;
  assert.deepEqual(response.result, { status: 'Success' });
  assert.equal(response.convertedObjects.length, objects.length);
  assert.deepEqual(response.convertedObjects[2_998], down(v1Policy(plain)));
});

const failures: [name: string, request: unknown, message: RegExp][] = [
  ['an unknown version', { uid: 'u', desiredAPIVersion: 'operator.technomad.dev/v2', objects: [] }, /write operator.technomad.dev\/v1 or/],
  ['an unknown version of something', { uid: 'u', desiredAPIVersion: 'apps/v1', objects: [v1Policy(plain)] }, /no API version "apps\/v1"/],
  ['no version', { uid: 'u', objects: [] }, /desiredAPIVersion/],
  ['no objects', { uid: 'u', desiredAPIVersion: v1 }, /objects/],
  ['objects that are no list', { uid: 'u', desiredAPIVersion: v1, objects: {} }, /objects/],
];

for (const [name, request, message] of failures) {
  test(`a review that cannot be carried out (${name}) fails as a review`, async () => {
    const { status, body } = await ask(request);
    const { response } = body;
    assert.deepEqual([status, response.uid, response.result['status']], [200, 'u', 'Failure']);
    assert.match(response.result['message'] ?? '', message);
  });
}

test('a body that is not a review is refused', async () => {
  const bodies = [undefined, null, 'x', [], {}, review, { ...review, request: null }, { ...review, request: { uid: 5 } }];
  for (const body of [
    ...bodies,
    { ...review, apiVersion: 'apiextensions.k8s.io/v1beta1', request: { uid: 'u' } },
    { ...review, kind: 'Review' },
  ])
    assert.equal((await convertReview(body)).status, 400);
});

test('every JSON body is answered', async () => {
  const request = fc.record({ uid: fc.jsonValue(), desiredAPIVersion: fc.constantFrom(v1, v1alpha1, 5, null), objects: fc.jsonValue() });
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.jsonValue(),
        request.map((request) => ({ ...review, request })),
      ),
      async (body) => {
        const { status, text } = await convertReview(body);
        assert.ok([200, 400].includes(status));
        JSON.parse(text);
      },
    ),
  );
});

test('the total size of the converted objects is bounded, although a few bytes may hold a compressed policy', async () => {
  const objects = Array.from({ length: 10 }, () => v1Policy(plain));
  const request = { uid: 'u', desiredAPIVersion: v1alpha1, objects };
  const { text, problem } = await convertReview({ ...review, request }, { maxAnswerLength: 1_000 });
  assert.match(problem ?? '', /the converted objects are longer than 1000 characters/);
  assert.deepEqual(JSON.parse(text).response.result, { status: 'Failure', message: problem });
});

test('the event loop continues between two objects, and a caller can cancel the conversion there', async () => {
  const request = { uid: 'u', desiredAPIVersion: v1alpha1, objects: Array.from({ length: 10 }, () => v1Policy(plain)) };
  let pauses = 0;
  const pause = async () => {
    if (++pauses === 4) throw new Error('nobody waits for it');
  };
  assert.equal((await convertReview({ ...review, request }, { pause })).problem, 'nobody waits for it');
  assert.equal(pauses, 4);
});
