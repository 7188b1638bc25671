/** A plan as a script that a shell could run: each command exactly as it is started. */
import type { Command } from './checks.ts';
import type { Step } from './plan.ts';

/** The steps with their numbers, as comments, and below them their commands; checks say what ends them. */
export function toScript(steps: readonly Step[]): string {
  return steps
    .map(({ title, checks = [], commands = [] }, index) => {
      const lines = [
        ...checks.map((check) => `${formatCommand(check)}   # ends here if the answer is not the expected one`),
        ...commands.map(formatCommand),
      ];
      return `# ${index + 1}/${steps.length} ${title}\n${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** `kubectl apply --filename - <<'EOF' …`. */
export function formatCommand({ program, args, input }: Command): string {
  const line = [program, ...args].map(quote).join(' ');
  return input === undefined ? line : `${line} <<'EOF'\n${input.trimEnd()}\nEOF`;
}

/** As a POSIX shell reads it. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
