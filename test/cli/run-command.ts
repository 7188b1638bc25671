import type { Terminal } from '../../src/service/command-line/command.ts';
import { commands } from '../../src/cli/index.ts';

/** What a command printed, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process; `onText` sees each text as it is written. */
export async function runCommand(
  name: string,
  args: readonly string[],
  {
    onText,
    ...terminal
  }: Pick<Terminal, 'interactive' | 'hasColours' | 'columns' | 'signal' | 'ask' | 'readStandardInput'> & {
    readonly onText?: (text: string) => void;
  } = {},
): Promise<Ran> {
  const command = await commands.find((candidate) => candidate.name === name)?.load();
  if (!command) throw new Error(`there is no command ${name}`);
  let out = '';
  let err = '';
  const code = await command.run(args, {
    ...terminal,
    out(text) {
      out += text;
      onText?.(text);
    },
    err(text) {
      err += text;
      onText?.(text);
    },
  });
  return { code, out, err };
}

/** Runs `crd ACTION …` on a cluster; `apply` gives an overloaded API server more time than a user would. */
export function runCrd(kubeconfig: string, action: string, ...args: string[]): Promise<Ran> {
  const patience = action === 'apply' ? ['--timeout', '3m'] : [];
  return runCommand('crd', [action, '--kubeconfig', kubeconfig, ...patience, ...args]);
}
