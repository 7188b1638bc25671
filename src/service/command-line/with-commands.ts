import { type Command, programName } from './command.ts';

/** Adds commands to one that also runs by itself: `bases init` to `bases`. The first word decides. */
export function withCommands(main: Command, added: readonly Command[]): Command {
  const list = (program: string) => added.map(({ name, summary }) => `  ${program} ${name}  ${summary}\n`).join('');
  return {
    ...main,
    commands: [main, ...added],
    help: (program = programName, parts) => `${main.help(program, parts)}\nFurther commands:\n${list(program)}`,
    async run(args, terminal) {
      const command = added.find(({ name }) => name === `${main.name} ${args[0]}`);
      if (command !== undefined) return command.run(args.slice(1), terminal);
      if (!args.includes('--help') && !args.includes('-h')) return main.run(args, terminal);
      terminal.out(this.help(terminal.program));
      return 0;
    },
  };
}
