/** What the commands share that write an action and end: their options, and how they print what was done. */
import { type Terminal } from '../service/command-line/command.ts';
import { namedOutputOption, print } from '../service/command-line/output.ts';
import { policyOptions } from '../service/command-line/policy-client.ts';

export const actOptions = { ...policyOptions, ...namedOutputOption } as const;
export const reasonOption = { reason: { value: 'TEXT', about: 'why you do it' } } as const;

interface Done {
  readonly namespace: string;
  readonly name: string;
  readonly resourceName: string;
}

/** Prints what was done: the sentence, the data, or the name of the policy. */
export function printDone(
  terminal: Terminal,
  output: 'text' | 'json' | 'yaml' | 'name' | undefined,
  sentence: string,
  { resourceName, ...done }: Done & Readonly<Record<string, unknown>>,
): void {
  if (output === 'name') terminal.out(`${resourceName}\n`);
  else print(terminal, output, done, () => `${sentence}\n`);
}
