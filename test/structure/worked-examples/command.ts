import type { WorkedExample } from './worked-example.ts';

const command = `import { defineCommand } from '../service/command-line/command.ts';
import { summaries } from './summaries.ts';

/** The command \`image-watcher greet\` of a worked example. */
export const greet = defineCommand({
  name: 'greet',
  summary: summaries.greet,
  about: 'Greets.',
  options: {},
  examples: [['greet', 'greets']],
  run(_values, _args, terminal) {
    terminal.out('hello\\n');
    return 0;
  },
});
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from './run-command.ts';

test('the command greets', async () => assert.deepEqual(await runCommand('greet', []), { code: 0, out: 'hello\\n', err: '' }));
`;

export const example: WorkedExample = {
  row: 'command',
  word: 'greet',
  steps: [
    { file: 'src/cli/greet.ts', text: command, without: 'both' },
    {
      file: 'src/cli/index.ts',
      after: { 'version: async': "  greet: async () => (await import('./greet.ts')).greet," },
      without: 'both',
    },
    { file: 'src/cli/summaries.ts', after: { "version: '": "  greet: 'greet'," }, without: 'types' },
    { file: 'test/cli/greet.test.ts', text: test, without: 'suite' },
    {
      // What `npm run generate` makes of the help of the command.
      file: 'docs/commands.md',
      after: { '# ': '\n### greet\n' },
      without: 'suite',
    },
  ],
  suite: ['test/cli/greet.test.ts', 'test/cli/structure.test.ts'],
};
