import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PermanentError } from '../../src/core/errors.ts';
import { chooseTag, type ListTags } from '../../src/work/choose-tag.ts';
import { latestSpec, specOf } from '../core/samples.ts';

const choose = (spec = specOf(), tags?: string[]) => {
  const list: ListTags = async () => tags;
  return chooseTag(spec.strategy, spec.repository, list, new AbortController().signal);
};

test('the tag that the policy selects', async () => assert.equal(await choose(specOf(), ['1.0.0', '1.10.0', 'main']), '1.10.0'));

test('a moving tag needs no list', async () => assert.equal(await choose(latestSpec()), 'latest'));

test('nothing to choose from is for the user to mend', async () => {
  const says = (reason: string, message: RegExp) => (error: unknown) =>
    error instanceof PermanentError && error.reason === reason && message.test(error.message);
  await assert.rejects(choose(), says('RepositoryNotFound', /does not know registry\.example\.com\/shop\/web/));
  await assert.rejects(choose(specOf(), []), says('NoMatchingTag', /none of the 0 tags/));
  await assert.rejects(choose(specOf(), ['main', 'dev']), says('NoMatchingTag', /none of the 2 tags .* is the highest stable version/));
});
