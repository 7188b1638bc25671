import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Holds up this process, event loop and all, for so many milliseconds at least and until Redis has answered all that was asked before. */
export function holdUp(redisPort: number, milliseconds = 0): void {
  const { href } = pathToFileURL(join(import.meta.dirname, 'redis.ts'));
  const script = `if ((await (await import('${href}')).askRedis(${redisPort}, 'PING')) !== '+PONG\\r\\n') process.exit(1)`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
