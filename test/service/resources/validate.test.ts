import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateSpec } from '../../../src/service/resources/validate.ts';
import { reasons } from '../../../src/core/model/reasons.ts';
import { acceptedSpecs } from './refused-specs/accepted.ts';
import { refusedSpecs } from './refused-specs/index.ts';
import { specWith } from './refused-specs/specs.ts';

for (const { name, spec, path, message, reason = 'InvalidPolicy' } of refusedSpecs) {
  test(`a policy with ${name} has a problem at ${path}`, () => {
    const problems = validateSpec(spec);
    const found = problems.find((problem) => problem.path === path && problem.message.includes(message));
    assert.ok(found, `${message} in ${JSON.stringify(problems, undefined, 1)}`);
    assert.equal(found.reason, reason);
    assert.deepEqual(
      problems.filter((problem) => problem !== found),
      [],
      'only one thing is wrong',
    );
  });
}

for (const [name, spec] of acceptedSpecs) {
  test(`the valid policy "${name}" has no problems`, () => assert.deepEqual(validateSpec(spec), []));
}

test('all problems of a spec are reported at once', () => {
  const spec = specWith({
    image: 'a:b',
    select: { semver: { range: '?' }, digest: {} },
    tags: { allow: '(', extract: '$1', ignore: ['['] },
    targets: [{ kind: 5, selector: {} }, { name: 'a' }],
    update: { windows: [{ from: '9', timeZone: 'x' }] },
  });
  assert.deepEqual(
    validateSpec(spec)
      .map(({ path }) => path)
      .sort(),
    [
      'spec.image',
      'spec.select',
      'spec.select.digest.tag',
      'spec.select.semver.range',
      'spec.tags.allow',
      'spec.tags.ignore[0]',
      'spec.targets[0].kind',
      'spec.targets[0].selector',
      'spec.targets[1].kind',
      'spec.update.windows[0].from',
      'spec.update.windows[0].timeZone',
      'spec.update.windows[0].to',
    ],
  );
});

test("a target in the policy's own namespace is the same whether the namespace is written or not", () => {
  const spec = specWith({
    targets: ['shop', undefined].map((namespace) => ({ kind: 'Deployment', name: 'web', ...(namespace && { namespace }) })),
  });
  assert.deepEqual(validateSpec(spec), []);
  assert.deepEqual(
    validateSpec(spec, { namespace: 'shop' }).map(({ path }) => path),
    ['spec.targets[1]'],
  );
});

for (const [name, spec] of [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'x'],
  ['a list', []],
  [
    'deep nonsense',
    { targets: [[[]]], select: [null], tags: { ignore: { a: 1 } }, update: { windows: [null, 5, { days: {} }] }, verify: [] },
  ],
  ['names of every object', { __proto__: null, constructor: {}, toString: 1 }],
] as const) {
  test(`the spec "${name}" is reported as a problem, and throws no error`, () => {
    const problems = validateSpec(spec);
    assert.ok(problems.length > 0);
    for (const { path, message, reason } of problems) {
      assert.match(path, /^spec/);
      assert.ok(message.length > 0 && Object.hasOwn(reasons, reason));
    }
  });
}

test('fields that are not in the schema are not reported as problems of the spec', () => {
  assert.deepEqual(validateSpec(specWith({ colour: 'blue' })), []);
});

test('a text that is too long is matched against no pattern, which could take hours', () => {
  assert.deepEqual(
    validateSpec(specWith({ image: '/'.repeat(4_000_000) })).map(({ message }) => message),
    ['is too long: at most 255 characters'],
  );
});
