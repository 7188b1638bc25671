import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceOptions } from './service.ts';

/** What the image starts node with, from the Dockerfile. */
export function readNodeOptions(): readonly string[] {
  const [, line = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(readDockerfile()) ?? [];
  return (JSON.parse(line) as string[]).filter((word) => word.startsWith('--'));
}

/** The service as the image starts it: figures are to be of what runs in production. */
export function asInImage(moreNodeOptions: readonly string[] = []): Pick<Required<ServiceOptions>, 'program' | 'env'> {
  const lines = readDockerfile().matchAll(/^ENV (.*)$/gm);
  const pairs = [...lines].flatMap(([, line = '']) => line.split(' ').map((pair) => pair.split('=') as [name: string, value: string]));
  const main = join(import.meta.dirname, '../../src/main.ts');
  return {
    env: Object.fromEntries(pairs),
    program: { command: process.execPath, args: () => [...readNodeOptions(), ...moreNodeOptions, main] },
  };
}

function readDockerfile(): string {
  return readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
}
