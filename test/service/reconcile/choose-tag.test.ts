import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RE2JS } from 're2js';
import { PermanentError } from '../../../src/core/model/errors.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { listCandidates } from '../../../src/service/reconcile/select-best.ts';
import type { ListTags } from '../../../src/service/reconcile/ports.ts';
import { latestSpec, specOf } from '../../core/model/samples.ts';

const { signal } = new AbortController();

const candidates = (spec = specOf(), tags?: string[], announced?: string) => {
  const list: ListTags = async () => tags;
  return listCandidates({ strategy: spec.strategy, source: spec.repository, announced, signal }, list);
};

test('only the tags that the policy may select are candidates', async () =>
  assert.deepEqual(await candidates(specOf(), ['1.0.0', '1.10.0', 'main']), ['1.0.0', '1.10.0']));

test('an announced tag counts even if the registry does not list it yet', async () => {
  assert.deepEqual(await candidates(specOf(), ['1.0.0'], '1.1.0'), ['1.0.0', '1.1.0']);
  assert.deepEqual(await candidates(specOf(), undefined, '1.1.0'), ['1.1.0']);
});

test('a policy with a mutable tag needs no list of tags', async () => assert.deepEqual(await candidates(latestSpec()), ['latest']));

test('a policy without a matching tag is stalled for its author to fix, with an example', async () => {
  const says = (reason: string, message: RegExp) => (error: unknown) =>
    error instanceof PermanentError && error.reason === reason && message.test(error.message);
  await assert.rejects(candidates(), says('RepositoryNotFound', /does not know registry\.example\.com\/shop\/web/));
  await assert.rejects(candidates(specOf(), []), says('NoMatchingTag', /none of the 0 tags of .* is the highest version in ">=0\.0\.1"$/));
  await assert.rejects(
    candidates(specOf(), ['2026.03.01', 'dev', '2026.02.01']),
    says(
      'NoMatchingTag',
      /none of the 3 tags .* is the highest version in ">=0\.0\.1"; for example "2026.03.01" is not a semantic version/,
    ),
  );
});

test('the message about a missing tag says which prereleases the range admits', async () => {
  const spec = specOf({ strategy: strategies.semver({ range: '>=1.0.0-0' }) });
  const message =
    /is the highest version in ">=1\.0\.0-0"; for example .*of prereleases, ">=1\.0\.0-0" admits only those of 1\.0\.0: .* prereleases: true$/;
  for (const tag of ['1.4.0-rc.1', '0.9.0'])
    await assert.rejects(candidates(spec, [tag]), (error) => error instanceof PermanentError && message.test(error.message));
});

describe('tag patterns of the maximum size', () => {
  const strategy = filterTags(strategies.alphabetical(), { allow: '(?:[a-z]?){128}(?:[a-z0-9]{0,9}-?){28}' });
  const tagsOf = (count: number) => Array.from({ length: count }, (_, index) => `${'a'.repeat(100)}-${index}`);
  const choose = (count: number) => listCandidates({ strategy, source: specOf().repository, signal }, async () => tagsOf(count));

  test('let the event loop go on while tags are compared', async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      pending = setImmediate(count);
    };
    let pending = setImmediate(count);
    const chosen = await choose(500);
    clearImmediate(pending);
    assert.equal(chosen.length, 500);
    assert.ok(turns >= 5, `${turns} turns`);
  });

  test('are aborted where there are too many tags, without comparing them all', async () => {
    const message = /the patterns of tags are too large for the 10000 tags of registry\.example\.com\/shop\/web: write smaller/;
    await assert.rejects(choose(10_000), { reason: 'InvalidTagPolicy', message });
  });

  test('are compared with each tag once in a reconcile', (t) => {
    const remembering = strategy.remembering?.();
    assert.ok(remembering);
    const { mock } = t.mock.method(RE2JS.prototype, 'matcher');
    const tags = tagsOf(50);
    for (const tag of tags) remembering.reject(tag);
    assert.equal(selectTag(remembering, tags), tags.toSorted().at(-1));
    assert.equal(mock.callCount(), 50);
  });
});
