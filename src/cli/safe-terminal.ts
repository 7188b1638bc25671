/** Protects the terminal from untrusted text in the output of commands: it cannot move the cursor, hide text, or give a command to the log of a CI job. */
import type { Terminal } from '../service/command-line/command.ts';
import { logCommand, printable } from '../service/command-line/printable.ts';

/** The sequences of `styleText` that commands use. Sequences that hide text (concealed, black, a background) are not among them. */
// oxlint-disable-next-line no-control-regex
const colour = /(\u001B\[(?:[0-4]|2[2-4]|3[1-79]|9[1-7])m)/;
/** The sequence with which `progress.ts` returns to the beginning of the line and clears it. */
const rewind = '\r\u001B[K';
/** GitHub and Gitea execute lines that begin with `::error::`. */
const workflowCommand = /^([^\S\n]*):(?=:)/gm;

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
    .replaceAll(workflowCommand, '$1\\u{3a}')
    .replaceAll(logCommand, '\\u{23}');
}
