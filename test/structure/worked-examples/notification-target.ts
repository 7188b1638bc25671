import type { WorkedExample } from './worked-example.ts';

const target = `import { messageOf, textOf, type NotificationTarget } from '../message.ts';
import { markdown } from '../markdown.ts';

/** The chat of a worked example. */
export const acme: NotificationTarget = {
  id: 'acme',
  via: 'http',
  build: (content, delivery) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ message: textOf(messageOf(content, delivery), markdown) }),
  }),
};
`;

export const example: WorkedExample = {
  row: 'kind of target of notifications',
  steps: [
    { file: 'src/notify/targets/acme.ts', text: target, without: 'both' },
    {
      file: 'src/notify/targets/index.ts',
      after: { "import type { NotificationTarget } from '../message.ts';": "import { acme } from './acme.ts';", 'slack,': '  acme,' },
      without: 'both',
    },
    { file: 'src/core/model/notification-target.ts', replace: { "['slack', ": "['slack', 'acme', " }, without: 'types' },
    { file: 'docs/notifications.md', after: { '| `slack` |': '| `acme` | a chat |' }, without: 'suite' },
  ],
  suite: ['test/notify/structure.test.ts'],
};
