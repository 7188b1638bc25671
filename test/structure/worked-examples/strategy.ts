import type { WorkedExample } from './worked-example.ts';

const strategy = `import type { TagStrategy } from '../../model/tag-strategy.ts';

/** Selects the tag with the longest name, as a worked example. */
export function longest(): TagStrategy {
  return {
    id: 'longest',
    description: 'the tag with the longest name',
    reject: () => undefined,
    compare: (a, b) => a.length - b.length,
  };
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectTag } from '../../../../src/core/select/select-tag.ts';
import { longest } from '../../../../src/core/select/strategies/longest.ts';

test('the tag with the longest name is selected', () => assert.equal(selectTag(longest(), ['b', 'aa', 'c']), 'aa'));
`;

const description = 'The tag with the longest name.';

export const example: WorkedExample = {
  row: 'way to choose a tag',
  word: 'longest',
  steps: [
    { file: 'src/core/select/strategies/longest.ts', text: strategy, without: 'both' },
    {
      file: 'src/core/select/strategies/index.ts',
      after: { "import { digest } from './digest.ts';": "import { longest } from './longest.ts';" },
      replace: { '{ alphabetical, digest, newest,': '{ alphabetical, digest, longest, newest,' },
      without: 'both',
    },
    { file: 'src/core/model/tag-strategy.ts', replace: { "'newest' |": "'newest' | 'longest' |" }, without: 'types' },
    {
      file: 'src/service/resources/v1-fields/select.ts',
      after: { 'const ways = {': `  longest: z.object({}).exactOptional().describe('${description}'),` },
      without: 'both',
    },
    {
      file: 'src/service/resources/build-strategy.ts',
      after: { 'newest: ()': '  longest: () => strategies.longest(),' },
      without: 'types',
    },
    { file: 'test/core/select/strategies/longest.test.ts', text: test, without: 'suite' },
    {
      // What `npm run generate` makes of the row in docs/templates/policies/choose-a-tag.md.
      file: 'docs/policies/choose-a-tag.md',
      after: { '| [`newest`]': '| [`longest`](#tags-with-their-own-scheme) | the longest name | names grow |' },
      without: 'suite',
    },
  ],
  suite: ['test/core/select/strategies/longest.test.ts', 'test/structure/families.test.ts'],
};
