/** A command of a script: its words, and the file that its output goes to. */
export interface ShellCommand {
  readonly words: readonly string[];
  readonly outputFile?: string;
}

/** The commands of a script as the documentation writes them: one in a line, continued by a backslash, with quotes, comments and here-documents. */
export function shellCommandsOf(script: string): ShellCommand[] {
  const withoutHereDocuments = script.replaceAll(/<<\s*(['"]?)(\w+)\1([^\n]*)\n[^]*?^\2$/gm, '$3');
  return withoutHereDocuments
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map(readCommand)
    .filter(({ words }) => words.length > 0);
}

/** One line up to what ends its first command: a comment, a pipe, a semicolon, `&`. */
export function readCommand(line: string): ShellCommand {
  const tokens = line.matchAll(
    /\s+|(?<end>#.*|[|;&].*)|(?<output>>)|(?<input><)|(?<word>(?:'[^']*'|"(?:\\.|[^"])*"|\$\([^)]*\)|\\.|[^\s'"|;&<>])+)/g,
  );
  const words: string[] = [];
  let outputFile: string | undefined;
  let takes: 'word' | 'output' | 'input' = 'word';
  for (const { groups = {} } of tokens) {
    if (groups['end'] !== undefined) break;
    if (groups['output'] !== undefined) takes = 'output';
    else if (groups['input'] !== undefined) takes = 'input';
    else if (groups['word'] !== undefined) {
      const word = groups['word'].replaceAll(
        /'([^']*)'|"((?:\\.|[^"])*)"/g,
        (_, single?: string, double?: string) => single ?? double ?? '',
      );
      if (takes === 'output') outputFile = word;
      else if (takes === 'word') words.push(word);
      takes = 'word';
    }
  }
  return { words, ...(outputFile !== undefined && { outputFile }) };
}
