/** What commands print passes here: nothing that comes from outside moves the cursor, hides text, or is a command to the log of a CI job. */
import type { Terminal } from '../service/command-line/command.ts';
import { printable } from '../service/command-line/printable.ts';

/** Of `styleText`: those that hide text (concealed, black, a background) are never ours. */
// oxlint-disable-next-line no-control-regex
const colour = /(\u001B\[(?:[0-4]|2[2-4]|3[1-79]|9[1-7])m)/;
/** Of `progress.ts`: to the beginning of the line, which is cleared. */
const rewind = '\r\u001B[K';
/** GitHub, Gitea and Azure DevOps execute lines that begin with `::error::`, and what follows `##[` and `##vso[` anywhere in a line. */
const workflowCommand = /^[^\S\n]*:(?=:)|#(?=#(?:vso)?\[)/gim;

/** The terminal for commands: colours, line breaks and tabs stay, and other control characters are shown as escapes. */
export function protectTerminal(terminal: Terminal): Terminal {
  const { hasColours = false, interactive = false, ask } = terminal;
  return {
    ...terminal,
    ...(ask && { ask: (question: string) => ask(protect(question, hasColours)) }),
    out: (text) => terminal.out(protect(text, hasColours)),
    err(text) {
      const begin = interactive && text.startsWith(rewind) ? rewind : '';
      terminal.err(begin + protect(text.slice(begin.length), hasColours));
    },
  };
}

function protect(text: string, hasColours: boolean): string {
  const parts = hasColours ? text.split(colour) : [text];
  return parts
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .split(/([\n\t])/)
            .map((one, at) => (at % 2 === 1 ? one : printable(one)))
            .join(''),
    )
    .join('')
    .replace(workflowCommand, (begin) => begin.slice(0, -1) + (begin.endsWith(':') ? '\\u{3a}' : '\\u{23}'));
}
