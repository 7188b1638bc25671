import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tracksOf } from '../../../src/core/plan/tracks.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { policyOf, specOf, workloadOf } from '../model/samples.ts';

const policy = policyOf();
const spec = specOf();
const many = Array.from({ length: 1_000 }, (_, index) =>
  workloadOf({ web: 'registry.example.com/shop/web:1.0.0' }, { name: `web-${index}` }),
);

test('the policies of a workload are looked up once, however many of its containers are compared', () => {
  let lookups = 0;
  const tracks = tracksOf(policy, spec, () => {
    lookups++;
    return [policyOf({ name: 'other', uid: 'other', spec: specOf({ strategy: strategies.digest({ tag: 'main' }) }) })];
  });
  const [workload = assert.fail()] = many;
  assert.deepEqual(
    ['main', 'develop', 'main'].map((tag) => tracks.followerOf(workload, tag)),
    ['ImagePolicy shop/other', undefined, 'ImagePolicy shop/other'],
  );
  assert.equal(lookups, 1);
});

test('a plan is compared with a bounded number of policies, after which a container counts as followed by one', () => {
  let compared = 0;
  const strategy = { ...strategies.semver({}), reject: () => `${++compared}` };
  const others = Array.from({ length: 1_000 }, (_, index) => policyOf({ name: `p${index}`, uid: `p${index}`, spec: specOf({ strategy }) }));
  const tracks = tracksOf(policy, spec, () => others);
  const found = many.map((workload) => tracks.followerOf(workload, '1.0.0') ?? tracks.selectorOf(workload, 'web', '1.0.0'));
  assert.ok(compared > 0 && compared <= 30_000, String(compared));
  assert.deepEqual([found[0], found.at(-1)], [undefined, 'another ImagePolicy']);
});
