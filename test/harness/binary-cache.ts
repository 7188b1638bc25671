import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { arch, homedir, platform } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Binary, checkBinary } from './check-binary.ts';
import { withLock } from './lock.ts';
import type { Tool } from './tools.ts';

/** The folder that outlives the checkout: IMAGE_WATCHER_CACHE, or image-watcher-testenv in the user's cache folder. */
export function cacheFolder(): string {
  const userCache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return process.env['IMAGE_WATCHER_CACHE'] || join(userCache, 'image-watcher-testenv');
}

/** One program of one version in the cache. Trusted only if its recorded checksum fits and it runs; a half-written one never counts. */
export class CachedBinary {
  readonly #tool: Tool;
  readonly #folder: string;
  readonly #path: string;

  constructor(tool: Tool, version: string) {
    this.#tool = tool;
    this.#folder = join(cacheFolder(), `${tool.id}-${version}-${platform()}-${arch()}`);
    this.#path = join(this.#folder, tool.id);
  }

  /** The cached program, or undefined if there is none that can be trusted. */
  async find(): Promise<Binary | undefined> {
    const recorded = await readFile(`${this.#path}.sha256`, 'utf8').catch(() => undefined);
    if (recorded === undefined) return undefined;
    const actual = await sha256Of(this.#path).catch(() => 'missing');
    if (actual === recorded) return checkBinary(this.#path, this.#tool);
    process.stderr.write(`${this.#path} is not what was put there; it is made again\n`);
    return undefined;
  }

  /** Lets `make` write the program to the path it is given, then keeps it; one process at a time, the others get what the first has made. */
  async findOrMake(make: (path: string) => Promise<void>): Promise<Binary> {
    return withLock(join(this.#folder, 'lock'), this.#tool.id, async () => {
      const madeByAnother = await this.find();
      if (madeByAnother) return madeByAnother;
      await this.#removeLeftovers();
      const unfinished = join(this.#folder, `unfinished-${process.pid}`);
      try {
        await make(unfinished);
        await chmod(unfinished, 0o755);
        const checked = await checkBinary(unfinished, this.#tool);
        await this.#keep(unfinished);
        return { ...checked, path: this.#path };
      } finally {
        await rm(unfinished, { force: true });
      }
    });
  }

  // The record is written last: without it the program does not count.
  async #keep(unfinished: string): Promise<void> {
    const record = `${unfinished}.sha256`;
    await rm(`${this.#path}.sha256`, { force: true });
    await writeFile(record, await sha256Of(unfinished));
    await rename(unfinished, this.#path);
    await rename(record, `${this.#path}.sha256`);
  }

  async #removeLeftovers(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const leftovers = (await readdir(this.#folder)).filter((name) => name.startsWith('unfinished-'));
    await Promise.all(leftovers.map((name) => rm(join(this.#folder, name), { force: true })));
  }
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
