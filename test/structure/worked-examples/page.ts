import type { WorkedExample } from './worked-example.ts';

const page = `import { html } from '../html.ts';
import type { Page } from '../page.ts';

export const almanac: Page = {
  path: '/almanac',
  section: 'setup',
  show: ({ texts }) => Promise.resolve({ title: texts.almanac, body: html\`<p>\${texts.almanac}</p>\` }),
};
`;

export const example: WorkedExample = {
  row: 'page of the dashboard',
  word: 'almanac',
  steps: [
    { file: 'src/dashboard/pages/almanac.ts', text: page, without: 'both' },
    {
      file: 'src/dashboard/pages/index.ts',
      after: { 'import { approvals }': "import { almanac } from './almanac.ts';", 'setup,': '  almanac,' },
      without: 'suite',
    },
    { file: 'src/dashboard/texts/en.ts', after: { "setup: 'Setup and health'": "  almanac: 'Almanac'," }, without: 'types' },
    { file: 'src/dashboard/texts/zh.ts', after: { "setup: '接入与健康'": "  almanac: '年历'," }, without: 'types' },
    { file: 'test/dashboard/dashboard.test.ts', after: { "'/setup',": "  '/almanac'," }, without: 'suite' },
  ],
  suite: ['test/dashboard/structure.test.ts'],
};
