import type { WorkedExample } from './worked-example.ts';

const target = `import { markdown } from '../markdown.ts';
import { textOf } from '../markup.ts';
import { messageOf, type NotificationTarget } from '../message.ts';

/** The chat of a worked example. */
export const pager: NotificationTarget = {
  id: 'pager',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: textOf(messageOf(content, delivery), markdown) }),
  }),
};
`;

export const example: WorkedExample = {
  row: 'kind of target of notifications',
  word: 'pager',
  steps: [
    { file: 'src/notify/targets/pager.ts', text: target, without: 'both' },
    {
      file: 'src/notify/targets/index.ts',
      after: { "import type { NotificationTarget } from '../message.ts';": "import { pager } from './pager.ts';", 'slack,': '  pager,' },
      without: 'both',
    },
    { file: 'src/core/model/notification-target.ts', after: { "'slack',": "  'pager'," }, without: 'types' },
    { file: 'docs/notifications.md', after: { '| `slack` |': '| `pager` | a pager |' }, without: 'suite' },
  ],
  suite: ['test/notify/structure.test.ts'],
};
