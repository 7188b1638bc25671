/** Terminal sessions in pages: what was typed, and what came out. */

/** A command of a session, with the lines that were printed. */
export interface ConsoleStep {
  readonly command: string;
  readonly output: string;
}

const fence = /^```console\n([^]*?)^```$/gm;

/** The commands of all ```console blocks of a page: a line `$ …`, continued by lines `> …`, then the output. */
export function consoleStepsOf(text: string): ConsoleStep[] {
  return [...text.matchAll(fence)].flatMap(([, body = '']) => stepsIn(body));
}

/** The page with other output. */
export function withOutputs(text: string, outputs: readonly string[]): string {
  let index = 0;
  return text.replaceAll(fence, (_, body: string) => {
    const shown = stepsIn(body).map(({ command }) => formatStep({ command, output: outputs[index++] ?? '' }));
    return `\`\`\`console\n${shown.join('')}\`\`\``;
  });
}

/** A step as a page shows it. */
export function formatStep({ command, output }: ConsoleStep): string {
  return `$ ${command.replaceAll('\n', '\n> ')}\n${output}`;
}

function stepsIn(body: string): ConsoleStep[] {
  return body.split(/^(?=\$ )/m).map((block) => {
    const lines = block.split('\n');
    const end = lines.findIndex((line, index) => index > 0 && !line.startsWith('> '));
    const command = [lines[0]?.slice('$ '.length), ...lines.slice(1, end).map((line) => line.slice('> '.length))].join('\n');
    return { command, output: lines.slice(end).join('\n') };
  });
}
