/** Which of the programs spends how much processor time. */
import { readdirSync, readFileSync } from 'node:fs';

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly ms: number;
}

/** Does the work, and tells its result and the milliseconds of a core that this process and all that it started spent meanwhile, by program. */
export async function countCpu<T>(work: () => Promise<T>): Promise<[result: T, cpuMs: Readonly<Record<string, number>>]> {
  const before = readCpuByProgram();
  const result = await work();
  const spent = [...readCpuByProgram()].map(([name, ms]): [string, number] => [name, ms - (before.get(name) ?? 0)]);
  return [result, Object.fromEntries(spent.filter(([, ms]) => ms > 0))];
}

function readCpuByProgram(): Map<string, number> {
  const stats = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? readStat(name) : []));
  const parents = new Map(stats.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean => pid !== undefined && (pid === process.pid || isOurs(parents.get(pid)));
  const times = new Map<string, number>();
  for (const { pid, name, ms } of stats.filter(({ pid }) => isOurs(pid))) {
    const key = pid === process.pid ? 'this benchmark' : name === 'MainThread' ? 'node' : name;
    times.set(key, (times.get(key) ?? 0) + ms);
  }
  return times;
}

/** Nothing of a process that has ended meanwhile. */
function readStat(id: string): Stat[] {
  try {
    const [, name = '', rest = ''] = /\((.*)\) (.*)$/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
    const fields = rest.split(' ');
    // Fields 4, 14 and 15 of proc(5); times in ticks of 10 ms.
    return [{ pid: Number(id), parent: Number(fields[1]), name, ms: (Number(fields[11]) + Number(fields[12])) * 10 }];
  } catch {
    return [];
  }
}
