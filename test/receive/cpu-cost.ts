/**
 * Milliseconds of CPU time that this thread spent on the work: the cheapest of at most ten runs, and the first one below the limit. CPU time does not count
 * what other processes of a busy machine take, and the repetition leaves out compilation, garbage collection and the coarse clock of some kernels.
 */
export async function cpuCost(limitMs: number, work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 10 && least >= limitMs; run++) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
