import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardFolder } from './watchdog.ts';

/** A new empty folder that disappears when this process ends, in whatever way. */
export function tempFolder(name: string): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `image-watcher-${name}-`));
  guardFolder(folder);
  return folder;
}
