import { readVersion } from '../service/config/version.ts';
import { defineCommand } from '../service/command-line/command.ts';
import { outputOption, print } from '../service/command-line/output.ts';
import { summaries } from './summaries.ts';

/** The command `image-watcher version`, which is also the option `--version`. */
export const version = defineCommand({
  name: 'version',
  summary: summaries.version,
  about: 'Shows the version of this program and of the Node.js that it runs on. The option --version before any command does the same.',
  options: outputOption,
  examples: [['version -o json', 'for programs']],
  run({ output }, _args, terminal) {
    const versions = { version: readVersion(), node: process.versions.node };
    print(terminal, output, versions, () => `image-watcher ${versions.version} (Node.js ${versions.node})\n`);
    return 0;
  },
});
