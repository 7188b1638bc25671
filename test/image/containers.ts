import { randomUUID } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { startProcess } from '../harness/process.ts';
import type { ServiceOptions } from '../harness/service.ts';
import type { Engine } from './engine.ts';

/** What a command in a container wrote, both outputs together, and how it ended. */
export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** No less than the chart takes away, on the network of this machine: all servers of the tests are on its loopback. */
const confined = ['--network=host', '--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'];

export type Containers = ReturnType<typeof containersOf>;

/** Containers of an image, all confined; `removeAll` in the end. */
export function containersOf(engine: Engine, image: string) {
  const names: string[] = [];
  const newName = (): string => {
    const name = `image-watcher-test-${randomUUID().slice(0, 8)}`;
    names.push(name);
    return name;
  };
  return {
    /** Runs a command of the program to its end. */
    async run(args: readonly string[], { files = [] }: { files?: readonly string[] } = {}): Promise<Ran> {
      const all = [...engine.host, 'run', '--rm', '--name', newName(), ...confined, ...volumesOf(files), image, ...args];
      const child = await startProcess(engine.client, all, { name: 'docker' });
      const { code } = await child.exited;
      return { code, output: child.logTail(10_000) };
    },
    /** Starts a command that waits for more of its input, which never comes; its name. */
    async startWaiting(args: readonly string[]): Promise<string> {
      const name = newName();
      await engine.docker(['run', '--detach', '--interactive', '--name', name, ...confined, image, ...args]);
      return name;
    },
    /** For services: the program in a container that is still there when it has ended. The variables are what it is told of the environment, `files` what it may read. */
    program({ variables = [], files = [], options = [] }: { variables?: string[]; files?: string[]; options?: string[] }) {
      const name = newName();
      const program: ServiceOptions['program'] = {
        command: engine.client,
        args(configFile) {
          const volumes = volumesOf([configFile, ...files]);
          const env = variables.map((variable) => `--env=${variable}`);
          return [...engine.host, 'run', '--name', name, ...confined, ...volumes, ...env, ...options, image];
        },
      };
      return { name, program };
    },
    exec: (name: string, command: readonly string[]) => engine.docker(['exec', name, ...command]),
    signal: (name: string, signal: NodeJS.Signals) => engine.docker(['kill', '--signal', signal, name]),
    /** `running`, or `exited with 0`. */
    async state(name: string): Promise<string> {
      const { Running, ExitCode } = JSON.parse(await engine.docker(['inspect', '--format', '{{json .State}}', name])) as State;
      return Running ? 'running' : `exited with ${ExitCode}`;
    },
    async removeAll(): Promise<void> {
      const present = (await engine.docker(['ps', '--all', '--format', '{{.Names}}'])).split('\n');
      const ours = names.filter((name) => present.includes(name));
      if (ours.length > 0) await engine.docker(['rm', '--force', '--volumes', ...ours]);
    },
  };
}

interface State {
  readonly Running: boolean;
  readonly ExitCode: number;
}

/** Where they are here as well. The user in the container is not the one who runs the tests, and temporary folders are closed to others. */
function volumesOf(files: readonly string[]): string[] {
  for (const file of files) {
    chmodSync(dirname(file), 0o755);
    chmodSync(file, 0o644);
  }
  return files.map((file) => `--volume=${file}:${file}:ro`);
}
