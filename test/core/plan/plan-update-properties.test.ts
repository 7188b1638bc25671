import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareBuild, valid } from 'semver';
import { sameRepository, tryParseImageReference, type Candidate } from '../../../src/core/model/image-reference.ts';
import type { PolicySpec } from '../../../src/core/model/image-policy.ts';
import { planUpdate } from '../../../src/core/plan/plan-update.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { allKnown, digestOf, lastMatching, latestSpec, noAliases, specOf, workloadOf } from '../model/samples.ts';

const tags = ['1.0.0', '1.2.3', '1.10.0', 'v2.0.0', '2.0.0-rc.1', '3.1.4', 'build-1', 'build-2', 'main', 'latest'];
const repositories = [
  'registry.example.com/shop/web',
  'registry.example.com/shop/web-admin',
  'other.example.com/shop/web',
  'nginx',
  'shop/web',
];
const specs: PolicySpec[] = [
  specOf(),
  specOf({ pin: 'Digest' }),
  specOf({ strategy: strategies.semver({ range: '1.x || 2.0.0-rc.1' }) }),
  specOf({ strategy: lastMatching('build-.*') }),
  latestSpec(),
];

const digest = fc.constantFrom(...['a', 'b', 'c'].map(digestOf));
const image = fc
  .tuple(fc.constantFrom(...repositories), fc.option(fc.constantFrom(...tags)), fc.option(digest))
  .map(([name, tag, digest]) => `${name}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`);
const images = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.oneof({ weight: 9, arbitrary: image }, fc.string()), {
  minKeys: 1,
  maxKeys: 4,
});
const input = fc
  .record({ images, spec: fc.constantFrom(...specs), tag: fc.constantFrom(...tags), digest, hasApplied: fc.boolean() })
  .filter(({ spec, tag }) => spec.strategy.reject(tag) === undefined);

/** The images once the plan is carried out. */
function carryOut(images: Record<string, string>, spec: PolicySpec, candidate: Candidate, hasApplied: boolean): Record<string, string> {
  const workload = workloadOf(images);
  const [target] = planUpdate({
    spec,
    candidate,
    hasApplied,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workload,
  }).targets;
  assert.ok(target);
  const result = { ...images };
  for (const { container, index, from, to } of target.changes) {
    assert.deepEqual([workload.containers[index]?.name, workload.containers[index]?.image], [container, from]);
    result[container] = to;
  }
  return result;
}

test('a container of another repository is never changed, and no container ever changes its repository or its spelling', () => {
  fc.assert(
    fc.property(input, ({ images, spec, tag, digest, hasApplied }) => {
      for (const [name, imagesAfter] of Object.entries(carryOut(images, spec, { tag, digest }, hasApplied))) {
        const before = images[name] ?? '';
        if (imagesAfter === before) continue;
        const reference = tryParseImageReference(before);
        assert.ok(reference && sameRepository(reference.repository, spec.repository), before);
        assert.equal(imagesAfter, `${reference.name}:${tag}${spec.pin === 'Digest' ? `@${digest}` : ''}`);
      }
    }),
    { numRuns: 500 },
  );
});

test('nothing is downgraded: an image that is newer by the strategy, or a higher version where versions are compared, stays', () => {
  fc.assert(
    fc.property(input, ({ images, spec, tag, digest, hasApplied }) => {
      const imagesAfter = carryOut(images, spec, { tag, digest }, hasApplied);
      for (const [name, before] of Object.entries(images)) {
        const running = tryParseImageReference(before)?.tag;
        if (running === undefined || imagesAfter[name] === before) continue;
        if (spec.strategy.reject(running) === undefined)
          assert.ok(spec.strategy.compare(running, tag) <= 0, `${before} → ${imagesAfter[name]}`);
        if (spec.strategy.id === 'semver' && valid(running) !== null)
          assert.ok(compareBuild(running, tag) <= 0, `${before} → ${imagesAfter[name]}`);
      }
    }),
    { numRuns: 500 },
  );
});

test('an applied plan is up to date: the same plan again changes nothing', () => {
  fc.assert(
    fc.property(input, ({ images, spec, tag, digest, hasApplied }) => {
      const once = carryOut(images, spec, { tag, digest }, hasApplied);
      assert.deepEqual(carryOut(once, spec, { tag, digest }, true), once);
    }),
    { numRuns: 500 },
  );
});

test('candidates in any order lead to the greatest', () => {
  const versions = fc.uniqueArray(fc.constantFrom('1.0.0', '1.2.3', '1.10.0', '3.1.4'), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(versions, (order) => {
      let images: Record<string, string> = { web: 'registry.example.com/shop/web:0.1.0' };
      for (const tag of order) images = carryOut(images, specOf(), { tag }, true);
      const highest = order.toSorted(compareBuild).at(-1);
      assert.equal(images['web'], `registry.example.com/shop/web:${highest}`);
    }),
  );
});
