import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../src/core/errors.ts';
import { listCandidates, type ListTags } from '../../src/work/choose-tag.ts';
import { latestSpec, specOf } from '../core/samples.ts';

const candidates = (spec = specOf(), tags?: string[], announced?: string) => {
  const list: ListTags = async () => tags;
  return listCandidates(spec.strategy, spec.repository, list, new AbortController().signal, announced);
};

test('the tags that the policy may select', async () =>
  assert.deepEqual(await candidates(specOf(), ['1.0.0', '1.10.0', 'main']), ['1.0.0', '1.10.0']));

test('what was announced, also when the registry does not list it yet', async () => {
  assert.deepEqual(await candidates(specOf(), ['1.0.0'], '1.1.0'), ['1.0.0', '1.1.0']);
  assert.deepEqual(await candidates(specOf(), undefined, '1.1.0'), ['1.1.0']);
});

test('a moving tag needs no list', async () => assert.deepEqual(await candidates(latestSpec()), ['latest']));

test('nothing to choose from is for the user to mend, with an example', async () => {
  const says = (reason: string, message: RegExp) => (error: unknown) =>
    error instanceof PermanentError && error.reason === reason && message.test(error.message);
  await assert.rejects(candidates(), says('RepositoryNotFound', /does not know registry\.example\.com\/shop\/web/));
  await assert.rejects(candidates(specOf(), []), says('NoMatchingTag', /none of the 0 tags of .* is the highest stable version$/));
  await assert.rejects(
    candidates(specOf(), ['2026.03.01', 'dev', '2026.02.01']),
    says('NoMatchingTag', /none of the 3 tags .* is the highest stable version; for example "2026.03.01" is not a semantic version/),
  );
});
