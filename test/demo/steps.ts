/** One line for each thing that happens: what, how long it took, where it is. */
export interface Steps {
  heading(text: string): void;
  /** Shows the step while it runs and how it ended; what it throws goes on. */
  step<T>(what: string, work: () => Promise<T>, tell?: (result: T) => string): Promise<T>;
  note(text: string): void;
}

const reportEveryMs = 10_000;

/** Steps on a terminal (the running one is shown) or in a file (only finished ones are). */
export function createSteps(output: NodeJS.WriteStream): Steps {
  const isTerminal = output.isTTY;
  const paint = (code: number, text: string) => (isTerminal ? `\u001B[${code}m${text}\u001B[0m` : text);
  const write = (text: string) => void output.write(text);
  return {
    heading: (text) => write(`\n${paint(1, text)}\n`),
    note: (text) => write(`    ${text}\n`),
    async step(what, work, tell) {
      const startedAt = performance.now();
      if (isTerminal) write(`  … ${what}`);
      // In a file or a pipe nothing can be replaced: a long step has a line of its own from time to time.
      const timer = setInterval(() => {
        const seconds = Math.round((performance.now() - startedAt) / 1_000);
        write(isTerminal ? `\r\u001B[K  … ${what} ${seconds} s` : `  … ${what} ${seconds} s\n`);
      }, reportEveryMs);
      const finish = (mark: string, detail: string) => {
        clearInterval(timer);
        const took = performance.now() - startedAt;
        const time = took < 1_000 ? `${Math.round(took)} ms` : `${(took / 1_000).toFixed(1)} s`;
        write(`${isTerminal ? '\r\u001B[K' : ''}  ${mark} ${what.padEnd(50)} ${time.padStart(8)}${detail ? `   ${detail}` : ''}\n`);
      };
      try {
        const result = await work();
        finish(paint(32, '✓'), tell?.(result) ?? '');
        return result;
      } catch (error) {
        finish(paint(31, '✗'), '');
        throw error;
      }
    },
  };
}
