import type { WorkedExample } from './worked-example.ts';

const rule = `import type { Rule } from './rule.ts';

/** Refuses a base that another author made, as a worked example. */
export const author: Rule = {
  id: 'AuthorChanged',
  about: 'The base has another author.',
  check({ oldBase, newBase }) {
    const [before, after] = [oldBase, newBase].map(({ manifest }) => manifest.annotations?.['org.opencontainers.image.authors']);
    return before === after ? undefined : 'the base has another author';
  },
};
`;

export const example: WorkedExample = {
  row: 'rule that refuses a rebase',
  word: 'AuthorChanged',
  steps: [
    { file: 'src/bases/rebase/rules/author.ts', text: rule, without: 'both' },
    {
      file: 'src/bases/rebase/rules/index.ts',
      after: { "import { abi } from './abi.ts';": "import { author } from './author.ts';", 'export const rules': '  author,' },
      without: 'suite',
    },
    { file: 'src/core/model/rebase-rules.ts', after: { 'export const rebaseRules': "  'AuthorChanged'," }, without: 'both' },
    {
      file: 'test/bases/rebase/rules.test.ts',
      after: {
        'const refused: Record<': `  AuthorChanged: [
    ['the author changes', { newBase: { annotations: { 'org.opencontainers.image.authors': 'somebody' } } }, /another author/],
  ],`,
      },
      without: 'suite',
    },
    {
      file: 'docs/rebase.md',
      after: { '| `UserChanged` |': '| `AuthorChanged` | The base has another author. |' },
      without: 'suite',
    },
  ],
  suite: ['test/bases/rebase/rules.test.ts', 'test/bases/structure.test.ts'],
};
