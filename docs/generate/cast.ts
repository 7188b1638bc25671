import { consoleStepsOf } from '../../test/docs/console.ts';

/** The recording of a page's terminal sessions, in the format asciicast v2: `asciinema play docs/tutorial.cast`. */
export function castOf(title: string, page: string): string {
  const lines: unknown[] = [{ version: 2, width: 140, height: 40, title, idle_time_limit: 2 }];
  let seconds = 0;
  const write = (text: string, after: number) => {
    seconds += after;
    lines.push([Number(seconds.toFixed(2)), 'o', text.replaceAll('\n', '\r\n')]);
  };
  for (const { command, output } of consoleStepsOf(page)) {
    write('$ ', 0.8);
    for (const [index, line] of command.split('\n').entries()) {
      if (index > 0) write('> ', 0.1);
      // Long lines appear in pieces, as fast as they can be read.
      for (const piece of line.match(/.{1,4}/g) ?? []) write(piece, 0.06);
      write('\n', 0.2);
    }
    if (output !== '') write(output, 1);
  }
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}
