import { readFileSync } from 'node:fs';
import { defineCommand } from './command.ts';
import { outputOption, print } from './output.ts';

/** The version of the program, from its package.json. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return version;
}

/** `image-watcher version`, also as `--version`. */
export const version = defineCommand({
  name: 'version',
  summary: 'show the version of the program',
  about: 'Shows the version of this program and of the Node.js that it runs on. image-watcher --version does the same.',
  options: outputOption,
  examples: [['version -o json', 'for programs']],
  run({ output }, _args, terminal) {
    const versions = { version: readVersion(), node: process.versions.node };
    print(terminal, output, versions, () => `image-watcher ${versions.version} (Node.js ${versions.node})\n`);
    return 0;
  },
});
