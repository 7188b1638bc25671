import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtProgram } from './program.ts';
import type { ServiceOptions } from './service.ts';

/** What the image starts node with, from the Dockerfile. */
export function readNodeOptions(): readonly string[] {
  const [, line = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(readDockerfile()) ?? [];
  return (JSON.parse(line) as string[]).filter((word) => word.startsWith('--'));
}

/** The variables that the image sets. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const lines = readDockerfile().matchAll(/^ENV (.*)$/gm);
  return Object.fromEntries(
    [...lines].flatMap(([, line = '']) => line.split(' ').map((pair) => pair.split('=') as [name: string, value: string])),
  );
}

/** The service as the image starts it: figures are to be of what runs in production. */
export async function asInImage(moreNodeOptions: readonly string[] = []): Promise<Pick<Required<ServiceOptions>, 'program' | 'env'>> {
  const main = await builtProgram();
  return {
    env: imageEnvironment(),
    program: { command: process.execPath, args: () => [...readNodeOptions(), ...moreNodeOptions, main] },
  };
}

function readDockerfile(): string {
  return readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
}
