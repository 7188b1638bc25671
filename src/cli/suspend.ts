import type { Command } from './command.ts';
import { parsePolicyCommand, policyHelp, tell, withPolicy } from './policy-client.ts';

/** `image-watcher suspend NS/NAME`. */
export const suspend: Command = {
  name: 'suspend',
  summary: 'leave a policy alone: nothing is looked at or changed for it',
  help: helpOf('suspend', 'Writes spec.suspend: true. Pushes that come meanwhile are caught up with by "resume".'),
  run: (args, terminal) => write(args, terminal, true),
};

/** `image-watcher resume NS/NAME`. */
export const resume: Command = {
  name: 'resume',
  summary: 'look after a suspended policy again',
  help: helpOf('resume', 'Writes spec.suspend: false. The registry is asked at once for what came meanwhile.'),
  run: (args, terminal) => write(args, terminal, false),
};

function helpOf(name: string, text: string): string {
  return `Usage: image-watcher ${name} NAMESPACE/NAME [--output text|json]

${text}

${policyHelp}`;
}

function write(args: Parameters<Command['run']>[0], terminal: Parameters<Command['run']>[1], suspended: boolean): Promise<number> {
  const { values, output, namespace, name } = parsePolicyCommand(args);
  return withPolicy({ namespace, name }, values, terminal, async (policy) => {
    await policy.patch({ spec: { suspend: suspended } });
    tell(terminal, output, `${namespace}/${name} is ${suspended ? 'suspended' : 'looked after again'}`, { namespace, name, suspended });
    return 0;
  });
}
