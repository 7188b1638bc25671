/**
 * Milliseconds of CPU time that this thread spent on the work: the cheapest of at most `runs` runs, and the first one below the limit. CPU time does not count
 * what other processes of a busy machine take, and the repetition leaves out compilation, garbage collection and the coarse clock of some kernels. A run
 * above the limit counts as what it would cost on a machine that needs `referenceMs` for the reference, which is measured right after it: on a slow machine, or
 * one whose cores are shared, both take longer.
 */
export async function cpuCost(limitMs: number, work: () => unknown, runs = 10): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < runs && least >= limitMs; run++) {
    const cost = await cpuTime(work);
    const slowness = cost < limitMs ? 1 : Math.max(1, (await cpuTime(readReference)) / referenceMs);
    least = Math.min(least, cost / slowness);
  }
  return least;
}

async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** What reading the reference takes on the machine for which the limits were chosen. */
const referenceMs = 6;
const reference = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ name: `entry-${index}`, values: [index, null, true] })));

function readReference(): void {
  JSON.parse(reference);
}
