/** Pages of the dashboard that are open in a process of their own, as they are in the browsers of other machines. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { TabsAnswer, TabsQuestion } from './tabs-process.ts';

export interface OpenedTabs {
  /** How often all pages together were read. */
  reads(): Promise<number>;
  /** Throws if a page was not read. */
  stop(): Promise<void>;
}

/**
 * Opens pages, and resolves when their streams are open. Their process has the lowest priority: what reads and unpacks pages runs elsewhere in earnest, and
 * must not be counted as the service's lateness. The service itself has no advantage over the API server, Redis and the registry.
 */
export async function openPages(
  pages: readonly { readonly url: string; readonly page: string; readonly cookie: string }[],
): Promise<OpenedTabs> {
  const child = fork(fileURLToPath(new URL('./tabs-process.ts', import.meta.url)), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ended = once(child, 'exit');
  const ask = async (question: TabsQuestion): Promise<TabsAnswer> => {
    const answered = once(child, 'message');
    child.send(question);
    const [first] = (await Promise.race([answered, ended.then(() => [])])) as [TabsAnswer?];
    if (first === undefined) throw new Error('the process that reads the pages has ended');
    return first;
  };
  await ask({ open: pages });
  return {
    reads: async () => (await ask('reads')).reads,
    async stop() {
      const { failures } = await ask('stop');
      await ended;
      if (failures.length > 0) throw new Error(`pages were not read: ${failures.slice(0, 3).join(', ')}`);
    },
  };
}
