import type { WorkedExample } from './worked-example.ts';

const evidence = `import type { Evidence } from './evidence.ts';
import { readReference } from './evidence.ts';

/** Finds the base in the label of a worked example. */
export const builder: Evidence = {
  id: 'Builder',
  find({ labels, aliases }) {
    const base = readReference(labels['com.example.builder.base'], aliases);
    return base === undefined ? [] : [{ by: 'Builder', ...base }];
  },
};
`;

export const example: WorkedExample = {
  row: 'evidence of the base of an image',
  word: 'Builder',
  steps: [
    { file: 'src/bases/recognize/evidence/builder.ts', text: evidence, without: 'both' },
    {
      file: 'src/bases/recognize/evidence/index.ts',
      after: { "import { annotation } from './annotation.ts';": "import { builder } from './builder.ts';" },
      replace: { '[annotation, ': '[annotation, builder, ' },
      without: 'suite',
    },
    { file: 'src/bases/recognize/facts.ts', replace: { "['Annotation', ": "['Annotation', 'Builder', " }, without: 'types' },
    {
      file: 'src/bases/recognize/recognize-base.ts',
      after: { "Annotation: 'its annotation": "  Builder: 'its label of the builder'," },
      without: 'types',
    },
    { file: 'src/core/model/base-status.ts', replace: { "'Annotation', ": "'Annotation', 'Builder', " }, without: 'types' },
    {
      file: 'test/bases/recognize/evidence.test.ts',
      after: {
        "['neither', { labels: { [nameKey]": `  [
    'a label of the builder',
    { labels: { 'com.example.builder.base': \`\${repository}@\${digest}\` } },
    [{ by: 'Builder', repository, digest }],
  ],`,
      },
      without: 'suite',
    },
    { file: 'docs/base-images.md', after: { '| `Annotation` |': '| `Builder` | the label of the builder |' }, without: 'suite' },
  ],
  suite: ['test/bases/recognize/evidence.test.ts', 'test/bases/structure.test.ts'],
};
