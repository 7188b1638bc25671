import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the image starts node with, from the Dockerfile: figures are to be of what runs in production. */
export function readNodeOptions(): readonly string[] {
  const [, line = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8')) ?? [];
  return (JSON.parse(line) as string[]).filter((word) => word.startsWith('--'));
}
