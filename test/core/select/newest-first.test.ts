import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Dated, newestFirst } from '../../../src/core/select/newest-first.ts';

test('versions come before other tags, the highest first, and others by their time and name', () => {
  const given: Dated[] = [
    { tag: 'main', at: '2026-03-01T10:00:00Z' },
    { tag: '1.9.0' },
    { tag: 'build-9' },
    { digest: 'sha256:a', at: '2026-03-01T12:00:00Z' },
    { tag: 'v1.10.0' },
    { tag: 'build-10' },
    { tag: '2.0.0-rc.1' },
    { tag: '2.0.0' },
  ];
  assert.deepEqual(
    given.toSorted(newestFirst).map(({ tag, digest }) => tag ?? digest),
    ['2.0.0', '2.0.0-rc.1', 'v1.10.0', '1.9.0', 'sha256:a', 'main', 'build-10', 'build-9'],
  );
});

test('the order of tags by age does not depend on the order in which they were listed', () => {
  const one = fc.record({
    tag: fc.constantFrom('1.0.0', 'v1.0.0', '1.0.0-rc.1', '1.0', 'main', 'latest', '1.0.0+a', ''),
    digest: fc.constantFrom('', 'sha256:a', 'sha256:b'),
    at: fc.constantFrom('', '2026-03-01T12:00:00Z', '2026-03-02T12:00:00Z'),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), (list) => {
      const names = (some: readonly Dated[]) => some.toSorted(newestFirst).map(({ tag, digest }) => `${tag}@${digest}`);
      assert.deepEqual(names(list), names(list.toReversed()));
    }),
  );
});
