import { readVersion } from '../version.ts';
import { parseOptions, parseOutput, UsageError, type Command } from './command.ts';

/** `image-watcher version`, also as `--version`. */
export const version: Command = {
  name: 'version',
  summary: 'show the version of the program',
  help: `Usage: image-watcher version [--output text|json]

Shows the version of this program and of the Node.js that it runs on. image-watcher --version does the same.

  --output  text or json
`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, { output: { type: 'string', short: 'o' } });
    if (positionals.length > 0) throw new UsageError(`version takes no arguments: ${positionals.join(' ')}`);
    const versions = { version: readVersion(), node: process.versions.node };
    const isJson = parseOutput(values.output) === 'json';
    terminal.out(isJson ? `${JSON.stringify(versions)}\n` : `image-watcher ${versions.version} (Node.js ${versions.node})\n`);
    return Promise.resolve(0);
  },
};
