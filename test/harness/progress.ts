const everyMs = 10_000;

/** Says on standard error that a long step runs, again every few seconds with the time it has taken, and how it ended. */
export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const say = (how: string) => process.stderr.write(`${what} ${how}\n`);
  const elapsed = () => {
    const seconds = Math.round((performance.now() - started) / 1_000);
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  };
  say('…');
  const timer = setInterval(() => say(`… ${elapsed()}`), everyMs);
  try {
    const result = await work();
    say(`done in ${elapsed()}`);
    return result;
  } catch (error) {
    say(`failed after ${elapsed()}`);
    throw error;
  } finally {
    clearInterval(timer);
  }
}
