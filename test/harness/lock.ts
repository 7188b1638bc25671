import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const heartbeatMs = 5_000;
const staleMs = 60_000;

/**
 * Does the work while no other process on this machine does it; those that wait say so. A lock whose owner died is taken over. Two processes that
 * take over at the same moment may both work: that must be wasteful at worst, never wrong.
 */
export async function withLock<T>(path: string, what: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  await acquire(path, what);
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  }
}

async function acquire(path: string, what: string): Promise<void> {
  for (let waitedMs = 0; !(await tryToCreate(path)); waitedMs += 500) {
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (waitedMs % 10_000 === 0) process.stderr.write(`${what}: waiting for another process that does it, ${waitedMs / 1_000} s\n`);
    await delay(500);
  }
}

async function tryToCreate(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// The heartbeat covers what the process id cannot: an id in use again, or an owner in another container that shares the folder.
async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    // Created, but its owner has not written its id yet.
    if (!owner) return Date.now() - mtimeMs > heartbeatMs;
    return Date.now() - mtimeMs > staleMs || !isAlive(Number(owner));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
