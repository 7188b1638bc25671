/** Keeps the record in a folder, one file for each segment. Several processes may share the folder, if its file system has hard links (NFS has). */
import { randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { maxSegmentBytes, segmentName, segmentOf, type SegmentStore } from './store.ts';

const partPrefix = '.part-';
/** The age, in ms, from which on the process that wrote a part was killed, and will not finish it. */
const partLifeMs = 3_600_000;

/** Creates the store. The folder must exist: a volume that is not mounted is an error, not a new folder. */
export function createFolderStore(folder: string): SegmentStore {
  const numbers = async () => (await readdir(folder)).flatMap((name) => segmentOf(name) ?? []).sort((a, b) => a - b);
  let isTidy = false;
  return {
    place: folder,
    async put(segment, text) {
      if (!isTidy) await removeParts(folder);
      isTidy = true;
      const part = join(folder, `${partPrefix}${randomUUID()}`);
      try {
        await writeDurably(part, text);
        // Unlike a rename, a link never replaces a file.
        return await linkOnce(part, join(folder, segmentName(segment)));
      } finally {
        await rm(part, { force: true });
        await syncFolder(folder);
      }
    },
    async read(segment) {
      const file = join(folder, segmentName(segment));
      try {
        if ((await stat(file)).size > maxSegmentBytes) throw new Error(`${file} is larger than ${maxSegmentBytes} bytes`);
        return await readFile(file, 'utf8');
      } catch (error) {
        // A folder that is not there has no segment either, but that is an error.
        if (codeOf(error) === 'ENOENT' && (await stat(folder)).isDirectory()) return undefined;
        throw error;
      }
    },
    last: async () => (await numbers()).at(-1),
    async *list() {
      yield* await numbers();
    },
  };
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o640);
  try {
    await handle.writeFile(text, 'utf8');
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Makes new names durable. File systems that cannot sync a folder write its names with the files. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== 'EINVAL') throw error;
  } finally {
    await handle.close();
  }
}

async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(partPrefix)) continue;
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > partLifeMs) await rm(join(folder, name), { force: true });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
