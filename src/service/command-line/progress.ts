import type { Terminal } from './command.ts';

/** A line on the terminal that shows what is happening. */
export interface Progress {
  readonly update: (text: string) => void;
  /** Removes the line of progress. */
  readonly stop: () => void;
}

const firstShownMs = 1_000;
const redrawnMs = 250;

/** Shows a line on the standard error output of a terminal if a command takes longer than a second, and overwrites it. Without a terminal, it shows nothing. */
export function startProgress({ interactive = false, err }: Terminal, first: string): Progress {
  if (!interactive) return { update: () => {}, stop: () => {} };
  let text = first;
  let isDrawn = false;
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    isDrawn = true;
    err(`\r\u001B[K${text}`);
    timer = setTimeout(draw, redrawnMs).unref();
  };
  timer = setTimeout(draw, firstShownMs).unref();
  return {
    update: (next) => void (text = next),
    stop() {
      clearTimeout(timer);
      if (isDrawn) err('\r\u001B[K');
      isDrawn = false;
    },
  };
}
