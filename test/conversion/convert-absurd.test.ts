/** What nobody writes by accident: prototypes, giants, depths, bombs. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { convertObject } from '../../src/conversion/convert.ts';
import { isObject } from '../../src/core/model/untyped.ts';
import { savedAnnotation } from '../../src/conversion/specs/saved-v1.ts';
import { down, isHidden, oldPolicy, setAnnotation, setAt, up, v1, v1Policy, v1alpha1, type Policy } from '../service/resources/objects.ts';

const image = 'harbor.example.com/shop/web';
const targets = [{ kind: 'Deployment', name: 'web' }];
const plain = { image, select: { semver: { range: '1.x' } }, targets };
const oldPlain = {
  repository: image,
  tagPolicy: { strategy: 'SemVer', pattern: '1.x' },
  updateTarget: { kind: 'Deployment', name: 'web', namespace: 'shop' },
  pollIntervalMinutes: 60,
};
const status = { latest: { tag: '1.4.2', selectedAt: '2026-11-21T10:00:00Z' } };

test('properties named like those of Object.prototype are converted like any other', () => {
  const text = '{"__proto__":{"polluted":true,"image":"evil"},"constructor":{"prototype":{"polluted":true}},"image":"nginx"}';
  const object = v1Policy(JSON.parse(text), { status: JSON.parse(text) });
  assert.deepEqual(up(down(object)), object);
  const olderPolicy = up(oldPolicy(JSON.parse(text.replace('image', 'repository'))));
  assert.deepEqual(olderPolicy.spec, {});
  assert.equal(Reflect.get({}, 'polluted'), undefined);
});

const annotationsLength = ({ metadata }: Policy) => Object.entries(metadata.annotations ?? {}).join('').length;
const limit = 256 * 1024;

test('a long policy is carried compressed in its annotation, within the limit of the API server', () => {
  const many = Array.from({ length: 64 }, (_, index) => ({
    kind: 'Deployment',
    name: `web-${index}`,
    containers: ['c'.repeat(63).repeat(60)],
  }));
  const object = v1Policy({ ...plain, targets: many }, { status });
  const view = down(object);
  assert.ok(annotationsLength(view) < 10_000);
  assert.deepEqual(up(view), object);
});

/** Text that does not compress, the same each time. */
function noise(length: number): string {
  let text = '';
  while (text.length < length) text += createHash('sha512').update(text.slice(-64)).digest('base64');
  return text.slice(0, length);
}

test('a spec too long for the annotation is left out, so that the API server does not refuse the whole list', () => {
  const filler = { a: 'x'.repeat(limit - 30_000) };
  const withFiller = { metadata: { ...v1Policy(plain).metadata, annotations: filler } };
  const withSpec = v1Policy({ ...plain, suspend: true }, { ...withFiller, status: { latest: { tag: noise(60_000) } } });
  assert.ok(annotationsLength(down(withSpec)) <= limit);
  assert.deepEqual(up(down(withSpec)), withSpec, 'a status takes no room there');
  const withoutSpec = v1Policy({ ...plain, minAge: noise(60_000) }, withFiller);
  assert.deepEqual(Object.keys(down(withoutSpec).metadata.annotations ?? {}), ['a']);
  assert.ok(isHidden(down(up(down(withoutSpec)))), 'still nothing that would be acted on');
});

test('a status that is very long or deep is shown but not carried along, and a deep one that is sent is not read', () => {
  const long = { lastAppliedTag: '1.4.2', ...status, history: [{ to: 'x'.repeat(600_000) }] };
  const nested: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  const deep = { lastAppliedTag: '1.4.2', ...status, nested };
  for (const absurd of [long, deep]) {
    const view = convertObject(v1Policy(plain, { status: absurd }), v1alpha1);
    assert.deepEqual(isObject(view) && view['status'], { lastAppliedTag: '1.4.2' });
  }
  const stored = convertObject(oldPolicy(oldPlain, { status: { lastAppliedTag: '1.4.2', v1: deep } }), v1);
  assert.deepEqual(isObject(stored) && stored['status'], { lastAppliedTag: '1.4.2' });
});

test('very deep objects, very long objects and a small annotation that unpacks to a huge value are all converted', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
  const object = { ...v1Policy({ ...plain, deep }), status: deep };
  const olderPolicy = oldPolicy({ ...oldPlain, tagPolicy: deep, deep });
  assert.ok(JSON.stringify(convertObject(object, v1alpha1)).includes(image), 'not saved, but answered');
  assert.ok(JSON.stringify(convertObject(olderPolicy, v1)).includes(image));
  const long = 'x'.repeat(5_000_000);
  assert.equal(up(down(v1Policy({ ...plain, image: long }))).spec?.['image'], long);
  const bomb = `deflate:${deflateRawSync(`{"spec":{"suspend":true,"image":"${'x'.repeat(50_000_000)}"}}`).toString('base64')}`;
  const stored = up({ ...oldPolicy(oldPlain), metadata: { namespace: 'shop', annotations: { [savedAnnotation]: bomb } } });
  assert.equal(stored.spec?.['suspend'], undefined, 'not read');
});

test('without a readable annotation, only the older fields are converted', () => {
  const view = down(v1Policy({ ...plain, suspend: true, update: { mode: 'Approval' } }));
  const deep = `{"spec":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  for (const text of [undefined, '', '{', '[]', 'null', '"x"', '{"spec":5}', 'deflate:', 'deflate:AAAA', '{"spec":[]}', deep]) {
    const stored = up(setAnnotation(setAt(view, 'spec.tagPolicy', oldPlain.tagPolicy), text));
    assert.deepEqual(stored.spec, { ...plain, poll: { interval: '60m' } }, text?.slice(0, 20));
    assert.equal('annotations' in stored.metadata, false);
  }
});
